import {
  COMPARED_HEADERS,
  groupDifferences,
  type KnownDifference,
  KnownDifferences,
  readKnownDifferences,
  type Recording,
  type SeenDifference,
  sentenceOf,
  VARYING_FIELDS,
} from '../../recording/index.js'
import type { Environment } from '../environment.js'

/** Prints the differences of two runs: those that are new in words, and how many are known. */
export class DifferenceReport {
  readonly #known: KnownDifferences
  readonly #environment: Environment
  readonly #json: boolean

  private constructor(known: readonly KnownDifference[], environment: Environment, json: boolean) {
    this.#known = new KnownDifferences(known)
    this.#environment = environment
    this.#json = json
  }

  /** @throws UserError `known-differences` */
  static async open(file: string | undefined, environment: Environment, json: boolean): Promise<DifferenceReport> {
    return new DifferenceReport(file === undefined ? [] : await readKnownDifferences(file), environment, json)
  }

  /** Warns of a recording that is not whole. */
  about({ name, isCut, missing, exchanges }: Recording): void {
    const { stderr } = this.#environment
    if (isCut)
      stderr.line(`warn: ${name} ends in the middle of a line; the ${exchanges.length} exchanges before it are used`)
    if (missing.length > 0) stderr.line(`warn: ${name} lacks exchanges ${ranges(missing)}, which were not written`)
  }

  /** Prints the differences and the sum; gives the exit code. */
  end(differences: readonly SeenDifference[], calls: number): number {
    const { stdout } = this.#environment
    const all = groupDifferences(differences).map((group) => ({ ...group, known: this.#known.find(group.first) }))
    const fresh = all.filter(({ known }) => known === undefined)
    const known = all.length - fresh.length
    const unused = this.#known.unused
    if (this.#json) {
      for (const { first, seqs, known } of all) {
        const { call, place, kind, was, is } = first
        this.#line({ event: 'difference', seqs, call, place, kind, was, is, known: known?.why ?? null })
      }
      this.#line({
        event: 'end',
        calls,
        differences: fresh.length,
        known,
        unused_known: unused.map(({ where }) => where),
        varying_fields: VARYING_FIELDS,
        compared_headers: Object.keys(COMPARED_HEADERS),
      })
      return fresh.length > 0 ? 1 : 0
    }
    for (const { first, seqs } of fresh) {
      const more = seqs.length > 1 ? ` (and in ${ranges(seqs.slice(1))})` : ''
      stdout.line(`#${first.seq} ${first.call}: ${sentenceOf(first)}${more}`)
    }
    for (const { where } of unused) stdout.line(`known and not seen: ${where}`)
    stdout.line(`${count(calls, 'call')}, ${count(fresh.length, 'difference')}${known > 0 ? `, ${known} known` : ''}`)
    return fresh.length > 0 ? 1 : 0
  }

  #line(event: object): void {
    this.#environment.stdout.json(event)
  }
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`

/** `#3, #5 to #9 and 12 more` */
function ranges(numbers: readonly number[]): string {
  const found: [number, number][] = []
  for (const number of numbers) {
    const last = found.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else if (!last || number !== last[1]) found.push([number, number])
  }
  const texts = found
    .slice(0, MAX_PRINTED_RANGES)
    .map(([from, to]) => (from === to ? `#${from}` : `#${from} to #${to}`))
  const more = found.slice(MAX_PRINTED_RANGES).reduce((sum, [from, to]) => sum + to - from + 1, 0)
  return more > 0 ? `${texts.join(', ')} and ${more} more` : texts.join(', ')
}
const MAX_PRINTED_RANGES = 5
