import { UserError } from '../../base/runtime/index.js'
import { SchemaCompiler, schemaProblem } from '../../base/schemas/index.js'

/** Handlers parse times themselves, with errors of their own. */
const requestSchemas = new SchemaCompiler({ formats: { 'date-time': true } })

/** How an error of {@link checkRequest} ends. */
interface RequestAdvice {
  readonly remedy: string
  /** Text after the problem, for the place of the member that has it. */
  readonly lineOf?: (path: readonly string[]) => string
}

/** @throws UserError `bad-request` (usage) for a value that the schema refuses */
export function checkRequest(
  schema: object,
  value: unknown,
  what: string,
  { remedy, lineOf = () => '' }: RequestAdvice,
): void {
  const check = requestSchemas.check(schema)
  if (check.accepts(value)) return
  const { message, path } = schemaProblem(check.errors())
  throw new UserError('bad-request', `${what} is wrong: ${message}${lineOf(path)}`, { kind: 'usage', remedy })
}
