import type { ERRORS } from './errors.js'

/** The catalogues of all rooms: each room adds its own in its errors.ts. */
export interface ErrorCatalogues {
  runtime: typeof ERRORS
}

type Codes = { [Room in keyof ErrorCatalogues]: keyof ErrorCatalogues[Room] }[keyof ErrorCatalogues]

/** A code of a catalogue, or the operating system's name of what went wrong with a file (`ENOENT`). */
export type ErrorCode = Codes | `E${Uppercase<string>}`

/**
 * A failure that a person can act on: a stable code, one sentence that says what was wrong and where, and what to do
 * about it. Anything else that is thrown is a defect of ours.
 *
 * @example
 * import { createLab, UserError } from 'ironstage'
 *
 * await using lab = await createLab()
 * try {
 *   lab.faults.add({ match: {}, effect: { kind: 'delay', ms: 1 } })
 * } catch (error) {
 *   if (error instanceof UserError) console.log(error.code, error.message, error.remedy)
 * }
 */
export class UserError extends Error {
  override name = 'UserError'
  readonly code: ErrorCode
  readonly remedy: string | undefined
  /** `usage` errors end a command with exit code 2, `failure` with 1. */
  readonly kind: 'usage' | 'failure'

  constructor(
    code: ErrorCode,
    message: string,
    options: { remedy?: string; cause?: unknown; kind?: 'usage' | 'failure' } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.remedy = options.remedy
    this.kind = options.kind ?? 'failure'
  }
}

/**
 * Makes `instanceof` know the errors of a class in another copy of this package: the command has one of its own, and a
 * package with steps imports `ironstage` by itself.
 */
export function knownInAllCopies(type: abstract new (...args: never[]) => Error, name: string): void {
  const mark = Symbol.for(`ironstage.${name}`)
  Object.defineProperty(type.prototype, mark, { value: true })
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      // A class below it inherits this.
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value)
      return typeof value === 'object' && value !== null && mark in value
    },
  })
}

knownInAllCopies(UserError, 'UserError')

/**
 * Puts what was being done in front of what went wrong: `await during('opening /dev/loop3', () => open(path))` throws
 * an error with that message and the original as its cause, so that a failure reads as a causal chain.
 */
export async function during<T>(doing: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Error(doing, { cause })
  }
}

/**
 * The messages of an error and its causes, outermost first. An error that says in words what its cause means
 * (`saysCause`) stands for both.
 *
 * @example
 * import { errorChain, UserError } from 'ironstage'
 *
 * const error = new UserError('EIO', 'the disk cannot be read', { cause: new Error('EIO') })
 * const sentences = errorChain(error) // ['the disk cannot be read', 'EIO']
 */
export function errorChain(error: unknown): string[] {
  const chain: string[] = []
  for (let e = error; e !== undefined && e !== null; e = causeToSay(e))
    chain.push(e instanceof Error ? e.message : String(e))
  return chain
}

function causeToSay(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined
  return 'saysCause' in error && error.saysCause === true ? undefined : error.cause
}

const DISK_FULL_CODES = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL'])

/** True if an error, or one of its causes, says that a disk or a quota is full. */
export function isDiskFull(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause)
    if ('code' in e && DISK_FULL_CODES.has(String(e.code))) return true
  return false
}

/** The first {@link UserError} in the chain of causes; of several errors the first one's, when all have one. */
export function userError(error: unknown): UserError | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e instanceof UserError) return e
    if (e instanceof AggregateError) {
      const found = e.errors.map(userError)
      if (found.length > 0 && !found.includes(undefined)) return found[0]
    }
  }
  return undefined
}
