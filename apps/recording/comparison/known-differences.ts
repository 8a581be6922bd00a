import { parse } from 'yaml'
import { defined, literalPattern, readNested, readNamedText } from '../../../base/runtime/index.js'
import { type Difference, withoutIndexes } from './difference.js'
import { recordingError } from '../recording-error.js'

/** A difference that is known and on purpose. */
export interface KnownDifference {
  /** Method, route and place; `*` stands for any characters but a slash, `**` for any: `GET /v1/nodes/* body.extra.**`. */
  readonly where: string
  readonly why: string
  /** Counts only where the value was this one. */
  readonly was?: unknown
  readonly is?: unknown
}

const KEYS = ['where', 'why', 'was', 'is']

/**
 * Reads a YAML list of known differences.
 *
 * @throws UserError `known-differences`
 */
export async function readKnownDifferences(path: string): Promise<KnownDifference[]> {
  const usage = (message: string, cause?: unknown) =>
    recordingError('known-differences', message, { kind: 'usage', ...defined({ cause }) })
  let document: unknown
  try {
    document = readNested(await readNamedText(path), path, (text) => parse(text) as unknown) ?? []
  } catch (cause) {
    throw usage(`the known differences ${path} cannot be read`, cause)
  }
  if (!Array.isArray(document)) throw usage(`${path} is not a list of known differences`)
  return document.map((entry: unknown, index) => {
    const what = `entry ${index + 1} of ${path}`
    if (typeof entry !== 'object' || entry === null) throw usage(`${what} is not an object with where and why`)
    for (const key of ['where', 'why'])
      if (typeof (entry as Record<string, unknown>)[key] !== 'string') throw usage(`${what} has no ${key}`)
    const unknown = Object.keys(entry).find((key) => !KEYS.includes(key))
    if (unknown !== undefined) throw usage(`${what} has an unknown key ${unknown}; there are ${KEYS.join(', ')}`)
    const known = entry as KnownDifference
    if (known.where.trim() === '' || known.why.trim() === '') throw usage(`${what} has an empty where or why`)
    return known
  })
}

/** Finds what is known among differences, and which entries were of no use. */
export class KnownDifferences {
  readonly #entries: { readonly entry: KnownDifference; readonly pattern: RegExp; used: boolean }[]

  constructor(entries: readonly KnownDifference[]) {
    this.#entries = entries.map((entry) => ({ entry, pattern: patternOf(entry.where), used: false }))
  }

  /** The entry that a difference is, if it is one. */
  find(difference: Difference): KnownDifference | undefined {
    const text = `${difference.call} ${withoutIndexes(difference.place)}`
    const found = this.#entries.find(
      ({ entry, pattern }) =>
        pattern.test(text) &&
        (!('was' in entry) || isSameValue(entry.was, difference.was)) &&
        (!('is' in entry) || isSameValue(entry.is, difference.is)),
    )
    if (found) found.used = true
    return found?.entry
  }

  get unused(): KnownDifference[] {
    return this.#entries.filter(({ used }) => !used).map(({ entry }) => entry)
  }
}

function patternOf(where: string): RegExp {
  const words = where.trim().split(/\s+/)
  const source = words
    .map((word) =>
      withoutIndexes(word)
        .split(/(\*\*|\*)/)
        .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]*' : literalPattern(part)))
        .join(''),
    )
    .join(' ')
  // The method and the route may be left out.
  return new RegExp(words.length === 1 ? `(^| )${source}$` : `^${source}$`)
}

const isSameValue = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
