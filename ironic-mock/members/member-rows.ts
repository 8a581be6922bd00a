import { defined } from '../../base/runtime/index.js'
import type { DatabaseSession } from '../store/postgres/database-session.js'

/**
 * Roles of a process: `api` accepts clients and works on no node, `conductor` works on nodes and accepts no
 * client, `machines` has machines.
 */
export type MemberRole = 'all' | 'api' | 'conductor' | 'machines'

/** A process, as it describes itself. */
export interface MemberDescription {
  /** Its name, which no other has. */
  readonly host: string
  readonly role: MemberRole
  /** `[conductor]conductor_group` */
  readonly group: string
  /** Names of the enabled hardware types. */
  readonly drivers: readonly string[]
  /** Base URL of its API; null where it has none. */
  readonly url: string | null
  readonly version: string
  /** Where the others reach its control API; absent where it has none that they reach. */
  readonly control?: MemberControl
  /** Mode of its clock, as in `real` or `x10`; absent where it has none of its own. */
  readonly clock?: string
}

/** The control API of a process, for the other processes. */
export interface MemberControl {
  /** Without `/_lab`. */
  readonly url: string
  /** PEM of its certificate; null for plain HTTP. */
  readonly certificate: string | null
}

/** A process as the database sees it. */
export interface MemberRow extends MemberDescription {
  readonly id: number
  /** Number of the process, see {@link DatabaseSession.stream}. */
  readonly stream: number
  /** True until it ends in order. */
  readonly isOnline: boolean
  /** True while the backend of its connection lives. */
  readonly isConnected: boolean
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly createdAt: number
  readonly seenAt: number
  /** Milliseconds since its last heartbeat, by the clock of the database. */
  readonly silence: number
  /** Lab time at its last heartbeat, in milliseconds since the epoch; null where that is the time of its host. */
  readonly labTime: number | null
  /** Number of the change of faults up to which it has them in force, and that of the last change. */
  readonly faultsSeen: number
  readonly faultsLast: number
}

/** True while the backend of a row of `members` lives; the start of another role's backend cannot be seen. */
export const IS_CONNECTED = `exists (select from pg_stat_get_activity(members.backend) as activity
  where activity.pid = members.backend
    and (activity.backend_start is null or activity.backend_start = members.backend_start))`

/** No row is returned while another process has the name. */
const REGISTER = `insert into members
    (host, role, conductor_group, drivers, url, version, stream, control, clock, backend, backend_start, heartbeat_at)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9, pid, backend_start, clock_timestamp()
    from pg_stat_activity where pid = pg_backend_pid()
  on conflict (host) do update set role = excluded.role, conductor_group = excluded.conductor_group,
    drivers = excluded.drivers, url = excluded.url, version = excluded.version, stream = excluded.stream,
    control = excluded.control, clock = excluded.clock, faults_seen = 0, backend = excluded.backend,
    backend_start = excluded.backend_start, heartbeat_at = excluded.heartbeat_at, is_online = true
  where members.stream = excluded.stream or not members.is_online or not ${IS_CONNECTED}
  returning id`

/** @returns the id; undefined while another process has the name */
export async function registerMember(
  session: DatabaseSession,
  { host, role, group, drivers, url, version, control, clock }: MemberDescription,
): Promise<number | undefined> {
  const reached = control ? JSON.stringify(control) : null
  const values = [host, role, group, JSON.stringify(drivers), url, version, session.stream, reached, clock ?? null]
  const { rows } = await session.query<{ id: number }>(REGISTER, values)
  return rows[0]?.id
}

const LIST = `select id, host, role, conductor_group as "group", drivers, url, version, stream, is_online as "isOnline",
    ${IS_CONNECTED} as "isConnected",
    (extract(epoch from created_at) * 1000)::float8 as "createdAt",
    (extract(epoch from heartbeat_at) * 1000)::float8 as "seenAt",
    (extract(epoch from clock_timestamp() - heartbeat_at) * 1000)::float8 as silence, control, clock,
    lab_time as "labTime", faults_seen::float8 as "faultsSeen", (select faults from lab)::float8 as "faultsLast"
  from members order by id`

type ListedRow = Omit<MemberRow, 'drivers' | 'control' | 'clock'> & {
  readonly drivers: string
  readonly control: string | null
  readonly clock: string | null
}

/** All processes that have ever registered, in the order of their ids. */
export async function listMembers(session: Pick<DatabaseSession, 'query'>): Promise<MemberRow[]> {
  const { rows } = await session.query<ListedRow>(LIST)
  return rows.map(({ drivers, control, clock, ...row }) => ({
    ...row,
    drivers: JSON.parse(drivers) as string[],
    ...defined({
      control: control === null ? undefined : (JSON.parse(control) as MemberControl),
      clock: clock ?? undefined,
    }),
  }))
}

/**
 * @param labTime as in {@link MemberRow}
 * @returns false when the row is another process's by now
 */
export async function beatHeart(session: DatabaseSession, id: number, labTime: number | null): Promise<boolean> {
  const { rowCount } = await session.query(
    `update members set heartbeat_at = clock_timestamp(), lab_time = coalesce($2, lab_time)
       where id = $1 and backend = pg_backend_pid()`,
    [id, labTime],
  )
  return rowCount === 1
}

/**
 * Says that the process ends in order.
 *
 * @param labTime as in {@link MemberRow}
 */
export async function signOff(session: DatabaseSession, id: number, labTime: number | null): Promise<void> {
  await session.query(
    `update members set is_online = false, lab_time = coalesce($2, lab_time)
       where id = $1 and backend = pg_backend_pid()`,
    [id, labTime],
  )
}

/** Ends the backend of a process that gives no sign of life, which frees its locks. */
export async function endSilent(session: DatabaseSession, id: number, limit: number): Promise<void> {
  await session.query(
    `select pg_terminate_backend(backend) from members where id = $1 and ${IS_CONNECTED}
       and heartbeat_at < clock_timestamp() - make_interval(secs => $2 / 1000.0::float8)`,
    [id, limit],
  )
}

/** Forgets processes without nodes that ended long ago; conductors stay, as in Ironic. */
export async function forgetMembers(session: DatabaseSession): Promise<void> {
  await session.query(
    `delete from members where role in ('api', 'machines') and not ${IS_CONNECTED}
       and heartbeat_at < now() - interval '1 hour'`,
  )
}
