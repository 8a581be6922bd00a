import { UserError } from '../../base/runtime/index.js'
import type { DatabaseSession } from '../store/postgres/database-session.js'
import { SHARDS_OF_RING } from './shards.js'
import type { LeftWork } from './work-share.js'

/**
 * Number of a shard's lock. Locks are of the whole database: the other half of their key is the id of this schema's table
 * of members.
 */
export const lockOf = (ring: number, shard: number): number => ring * SHARDS_OF_RING + shard

/** Ring and shard of a lock. */
export const placeOfLock = (lock: number): { ring: number; shard: number } => ({
  ring: Math.floor(lock / SHARDS_OF_RING),
  shard: lock % SHARDS_OF_RING,
})

/** The ids of rings, by their names; those that are new are made. */
export async function ringIds(session: DatabaseSession, names: readonly string[]): Promise<Map<string, number>> {
  await session.query(
    `insert into rings (name) select name from unnest($1::text[]) as wanted (name)
       where not exists (select from rings where rings.name = wanted.name) on conflict do nothing`,
    [names],
  )
  const { rows } = await session.query<{ id: number; name: string }>(
    'select id, name from rings where name = any($1::text[])',
    [names],
  )
  return new Map(rows.map(({ id, name }) => [name, id]))
}

/** SQLSTATE of a full table of locks, whose size PostgreSQL has from its start. */
const OUT_OF_MEMORY = '53200'

/** Thrown where the server has no place for more locks. */
export class LockTableFull extends UserError {
  override name = 'LockTableFull'

  constructor(missing: number, options: { cause: unknown }) {
    super(
      'database-unfit',
      `the database has no place for ${missing} more locks, of which each conductor group takes ${SHARDS_OF_RING} for each hardware type`,
      { kind: 'usage', remedy: 'raise max_locks_per_transaction there, and start it again', ...options },
    )
  }
}

/**
 * Takes locks for as long as the connection lasts; those of other processes are left out.
 *
 * @throws LockTableFull when the server has no place for all of them; none is taken then
 */
export async function tryLocks(session: DatabaseSession, locks: readonly number[]): Promise<number[]> {
  try {
    const { rows } = await session.query<{ lock: number }>(
      `select lock from unnest($1::integer[]) as wanted (lock)
         where pg_try_advisory_lock('members'::regclass::oid::integer, lock)`,
      [locks],
    )
    return rows.map(({ lock }) => lock)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === OUT_OF_MEMORY)) throw error
    await unlockTaken(session, locks)
    throw new LockTableFull(locks.length, { cause: error })
  }
}

/** Frees those of some locks that this session has: a statement that fails keeps the locks that it took. */
async function unlockTaken(session: DatabaseSession, locks: readonly number[]): Promise<void> {
  await session.query(
    `select pg_advisory_unlock('members'::regclass::oid::integer, objid::integer) from pg_locks
       where locktype = 'advisory' and pid = pg_backend_pid() and classid = 'members'::regclass::oid
         and objid::integer = any($1::integer[])`,
    [locks],
  )
}

export async function unlock(session: DatabaseSession, locks: readonly number[]): Promise<void> {
  await session.query(
    `select pg_advisory_unlock('members'::regclass::oid::integer, lock) from unnest($1::integer[]) as held (lock)`,
    [locks],
  )
}

/** Notes this process as the one that works on shards, whose locks it has; says how they were left. */
export async function claimShards(
  session: DatabaseSession,
  locks: readonly number[],
): Promise<ReadonlyMap<number, LeftWork>> {
  // The rows are read as they are with the locks taken: no other process changes them meanwhile.
  const { rows } = await session.query<{ lock: number; stream: number | null; is_rested: boolean | null }>(
    `with earlier as (select lock, stream, is_rested from shards where lock = any($1::integer[])),
      claimed as (
        insert into shards (lock, stream, is_rested) select lock, $2, false from unnest($1::integer[]) as held (lock)
        on conflict (lock) do update set stream = excluded.stream, is_rested = false
        returning lock
      )
    select claimed.lock, earlier.stream, earlier.is_rested from claimed left join earlier using (lock)`,
    [locks, session.stream],
  )
  return new Map(
    rows.map(({ lock, stream, is_rested }) => {
      const left = is_rested === true ? 'rested' : stream === session.stream ? 'interrupted' : 'abandoned'
      return [lock, left]
    }),
  )
}

/** Notes that no effect of the shards' nodes runs, before their locks are given away. */
export async function markRested(session: DatabaseSession, locks: readonly number[]): Promise<void> {
  await session.query('update shards set is_rested = true where lock = any($1::integer[]) and stream = $2', [
    locks,
    session.stream,
  ])
}
