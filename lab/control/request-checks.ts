import { Ajv, type ValidateFunction } from 'ajv'
import { schemaProblem, UserError } from '../../base/runtime/index.js'

/** Schemas, compiled when they are first used. */
export class Checks {
  #ajv: Ajv | undefined
  readonly #compiled = new Map<object, ValidateFunction>()

  /** @throws UserError `bad-request` (usage) */
  check(schema: object, value: unknown, what: string, remedy: string): void {
    this.#ajv ??= new Ajv({ allErrors: true, strict: false, verbose: true, validateFormats: false })
    let accepts = this.#compiled.get(schema)
    if (!accepts) this.#compiled.set(schema, (accepts = this.#ajv.compile(schema)))
    if (accepts(value)) return
    throw new UserError('bad-request', `${what} is wrong: ${schemaProblem(accepts.errors!).message}`, {
      kind: 'usage',
      remedy,
    })
  }
}
