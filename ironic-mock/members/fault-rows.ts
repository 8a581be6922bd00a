import type { DatabaseSession } from '../store/postgres/database-session.js'
import { findMachines } from './machine-rows.js'
import { IS_CONNECTED } from './member-rows.js'

/** A fault before it is in the database. */
export interface FaultToStore {
  readonly label: string | null
  /** Its document. */
  readonly fault: string
  /** How often it strikes; null until it is lifted. */
  readonly times: number | null
  /** Matches that pass before it strikes. */
  readonly after: number
  /** From 0 to 1. */
  readonly probability: number
}

/** A fault of all processes. */
interface FaultRow {
  readonly id: number
  readonly fault: string
  readonly struck: number
}

/** The faults at one moment, with the number of their last change. */
export interface StoredFaults {
  readonly last: number
  readonly rows: readonly FaultRow[]
}

/** The processes that have not yet put a change of the faults in force, while their connection lives. */
const BEHIND = `select host from members where control is not null and is_online and faults_seen < $1
  and ${IS_CONNECTED} order by id`

/**
 * Counts one match, and says if the fault strikes; no row where it is lifted, or has struck often enough. A claim that was
 * counted before has the same answer. Those whose answers have come are forgotten, and what ended processes have left.
 */
const CLAIM = `with known as (select strikes, struck from fault_claims where claim = $3),
  answered as (delete from fault_claims where claim = any($4) or at < now() - interval '1 hour'),
  counted as (
    update faults set passed = passed + 1,
        struck = struck + (case when passed >= after and $2 < probability then 1 else 0 end)
      where id = $1 and (times is null or struck < times) and not exists (select from known)
      returning (passed > after and $2 < probability) as strikes, struck
  ), noted as (insert into fault_claims (claim, fault, strikes, struck) select $3, $1, strikes, struck from counted)
  select strikes, struck from known union all select strikes, struck from counted`

/**
 * The faults of all processes of a database. They are rows, so that they outlive processes and are there for those that
 * start later, and so that how often one has struck is counted once, wherever it strikes.
 */
export class FaultRows {
  readonly #session: DatabaseSession
  #claims = 0
  /** Claims whose answers have come. */
  #answered: string[] = []

  constructor(session: DatabaseSession) {
    this.#session = session
  }

  async list(): Promise<StoredFaults> {
    // One statement, so that the rows are those of the number.
    const { rows } = await this.#session.query<{ last: number; id: number | null; fault: string; struck: number }>(
      `select lab.faults::float8 as last, faults.id, faults.fault, faults.struck
         from lab left join faults on true order by faults.id`,
    )
    const found = rows.flatMap(({ id, fault, struck }) => (id === null ? [] : [{ id, fault, struck }]))
    return { last: rows[0]?.last ?? 0, rows: found }
  }

  /** Adds all of them, or none. @returns their ids, and the number of the change */
  async add(faults: readonly FaultToStore[]): Promise<{ ids: number[]; last: number }> {
    if (faults.length === 0) return { ids: [], last: 0 }
    const { rows } = await this.#session.query<{ id: number; last: number }>(
      `with added as (
        insert into faults (label, fault, times, after, probability)
          select label, fault, times, after, probability
          from json_to_recordset($1) as new (label text, fault text, times int, after int, probability float8)
          returning id
      ), counted as (update lab set faults = faults + 1 returning faults)
      select added.id, counted.faults::float8 as last from added, counted order by added.id`,
      [JSON.stringify(faults)],
    )
    return { ids: rows.map(({ id }) => id), last: rows[0]?.last ?? 0 }
  }

  /**
   * Lifts those with an id or a label, or all.
   *
   * @returns their ids, and the number of the change
   */
  async remove(which: { id?: number; label?: string }): Promise<{ ids: number[]; last: number }> {
    const { rows } = await this.#session.query<{ ids: number[]; last: number }>(
      `with removed as (
        delete from faults where ($1::integer is null or id = $1) and ($2::text is null or label = $2) returning id
      ), counted as (
        update lab set faults = faults + 1 where exists (select from removed) returning faults
      )
      select coalesce(array_agg(id order by id), '{}') as ids,
        coalesce((select faults from counted), 0)::float8 as last from removed`,
      [which.id ?? null, which.label ?? null],
    )
    return rows[0]!
  }

  /**
   * Counts a match of a fault, once also where the connection breaks meanwhile.
   *
   * @param roll from 0 to 1, for one with a probability
   * @returns whether it strikes, and how often it has struck; undefined where it strikes no more
   * @throws DatabaseUnavailable at once while the database is away, and when it stays away after the connection broke
   */
  async claim(id: number, roll: number): Promise<{ strikes: boolean; struck: number } | undefined> {
    const session = this.#session
    const claim = `${session.stream} ${++this.#claims}`
    const values = [id, roll, claim, this.#answered.splice(0)]
    const ask = () => session.query<{ strikes: boolean; struck: number }>(CLAIM, values)
    const isThere = session.backend !== null
    const { rows } = await ask().catch((error: unknown) => {
      if (!isThere) throw error
      return session.patiently(ask)
    })
    this.#answered.push(claim)
    return rows[0]
  }

  /** Disks of the machines of these names that processes have, or had until lately. */
  machines(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    return findMachines(this.#session, names)
  }

  /** Notes that this process has the faults up to a change in force. */
  async acknowledge(last: number): Promise<void> {
    await this.#session.query('update members set faults_seen = $1 where backend = pg_backend_pid()', [last])
  }

  /** Names of the living processes that have not a change in force yet. */
  async behind(last: number): Promise<string[]> {
    const { rows } = await this.#session.query<{ host: string }>(BEHIND, [last])
    return rows.map(({ host }) => host)
  }

  /** The secret of all processes: the first one's. */
  async secret(made: string): Promise<string> {
    const { rows } = await this.#session.query<{ secret: string }>(
      'update lab set secret = coalesce(secret, $1) returning secret',
      [made],
    )
    return rows[0]!.secret
  }
}
