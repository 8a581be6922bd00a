import type { PostgresSession } from './postgres-session.js'
import type { SoleProcess } from './sole-process.js'

/** Ids that a process which is alone asks for beyond those that it needs. */
const RESERVED = 64

/**
 * The ids of new records, from the database. A process that is alone has some in reserve, so that it need not ask for each;
 * among others it asks, since they may have used greater ones meanwhile.
 */
export class IdReserve {
  readonly #session: PostgresSession
  readonly #sole: SoleProcess
  #ids: readonly number[] = []
  /** The period of being alone for which they are. */
  #period: number | undefined

  constructor(session: PostgresSession, sole: SoleProcess) {
    this.#session = session
    this.#sole = sole
  }

  /** Ids that the next commit may have. */
  get ready(): readonly number[] {
    const { period } = this.#sole
    if (period === undefined || period !== this.#period) this.#ids = []
    return this.#ids
  }

  /** Takes the first of those that are ready. */
  take(count: number): void {
    this.#ids = this.#ids.slice(count)
  }

  /** Asks for ids that no other commit gets. @throws DatabaseUnavailable */
  async fetch(count: number): Promise<readonly number[]> {
    const { period } = this.#sole
    const { rows } = await this.#session.read<{ id: string }>(
      "select nextval('record_ids') as id from generate_series(1, $1)",
      [period === undefined ? count : count + RESERVED],
    )
    const ids = rows.map(({ id }) => Number(id))
    // Another commit may have asked meanwhile, for greater ones.
    if (this.ready.length === 0) {
      this.#period = period
      this.#ids = ids.slice(count)
    }
    return ids.slice(0, count)
  }
}
