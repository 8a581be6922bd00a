import type { DatabaseSession } from '../store/postgres/database-session.js'

/** A machine of a process, as far as the others have to know it. */
export interface MemberMachine {
  readonly name: string
  /** Name of its node. */
  readonly node: string
  /** Kernel names of its disks. */
  readonly disks: readonly string[]
}

/** The process is the one that this connection has registered; none where its name is another's by now. */
const WRITE_MACHINES = `with own as (select id from members where backend = pg_backend_pid() and is_online),
  listed as (select name, node, disks from json_to_recordset($1) as machine (name text, node text, disks json)),
  gone as (
    delete from machines using own where machines.member = own.id and machines.name not in (select name from listed)
  )
  insert into machines (member, name, node, disks)
    select own.id, listed.name, listed.node, listed.disks::text from own, listed
    on conflict (name, member) do update set node = excluded.node, disks = excluded.disks`

/** Has the machines of this process stand in the place of those that it had. */
export async function writeMachines(session: DatabaseSession, machines: readonly MemberMachine[]): Promise<void> {
  await session.query(WRITE_MACHINES, [JSON.stringify(machines)])
}

/**
 * The machines of these names, of all processes that have not been gone for long.
 *
 * @returns their disks by their names
 */
export async function findMachines(
  session: Pick<DatabaseSession, 'query'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (names.length === 0) return new Map()
  const { rows } = await session.query<{ name: string; disks: string }>(
    'select name, disks from machines where name = any($1::text[])',
    [names],
  )
  return new Map(rows.map(({ name, disks }) => [name, JSON.parse(disks) as string[]]))
}
