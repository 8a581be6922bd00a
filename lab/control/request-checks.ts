import { UserError } from '../../base/runtime/index.js'
import { schemaCheck, schemaProblem } from '../../base/schemas/index.js'

/** @throws UserError `bad-request` (usage) for a value that the schema refuses */
export function checkRequest(schema: object, value: unknown, what: string, remedy: string): void {
  const check = schemaCheck(schema)
  if (check.accepts(value)) return
  throw new UserError('bad-request', `${what} is wrong: ${schemaProblem(check.errors()).message}`, {
    kind: 'usage',
    remedy,
  })
}
