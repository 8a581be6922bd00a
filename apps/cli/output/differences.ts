import { countText } from '../../../base/runtime/index.js'
import {
  COMPARED_HEADERS,
  differenceLine,
  groupDifferences,
  type KnownDifference,
  KnownDifferences,
  rangesText,
  readKnownDifferences,
  type Recording,
  type SeenDifference,
  sumLine,
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
      stderr.line(
        `warn: ${name} ends in the middle of a line; only what is before that is used: ${countText(exchanges.length, 'exchange')}`,
      )
    if (missing.length > 0) stderr.line(`warn: ${name} lacks exchanges ${rangesText(missing)}, which were not written`)
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
    for (const group of fresh) stdout.line(differenceLine(group))
    for (const { where } of unused) stdout.line(`known and not seen: ${where}`)
    stdout.line(sumLine(calls, fresh.length, known))
    return fresh.length > 0 ? 1 : 0
  }

  #line(event: object): void {
    this.#environment.stdout.json(event)
  }
}
