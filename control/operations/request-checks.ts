import { UserError } from '../../base/runtime/index.js'
import { SchemaCompiler, schemaProblem } from '../../base/schemas/index.js'

/** Handlers parse times themselves, with errors of their own. */
const requestSchemas = new SchemaCompiler({ formats: { 'date-time': true } })

/** @throws UserError `bad-request` (usage) for a value that the schema refuses */
export function checkRequest(schema: object, value: unknown, what: string, remedy: string): void {
  const check = requestSchemas.check(schema)
  if (check.accepts(value)) return
  throw new UserError('bad-request', `${what} is wrong: ${schemaProblem(check.errors()).message}`, {
    kind: 'usage',
    remedy,
  })
}
