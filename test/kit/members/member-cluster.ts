import { silent, systemClock, type Clock } from '../../../base/runtime/index.js'
import type { NodeRecord } from '../../../base/wire/index.js'
import type { MemberRole } from '../../../ironic-mock/members/member-rows.js'
import { Members, type MemberTiming } from '../../../ironic-mock/members/members.js'
import type { NodesOfShare } from '../../../ironic-mock/members/work-share.js'
import type { StoreView } from '../../../ironic-mock/store/open-store.js'
import type { DatabaseAddress } from '../../../ironic-mock/store/postgres/database-address.js'
import { openDatabase } from '../../../ironic-mock/store/postgres/open-database.js'
import type { Store } from '../../../ironic-mock/store/store.js'

export type SharedStore = Store & StoreView

interface ServerPlace {
  readonly port: number
}

/** Address of a schema on a server that trusts its own user over TCP. */
export function addressOf({ port }: ServerPlace, schema: string): DatabaseAddress {
  const config = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' }
  const shown = `127.0.0.1:${port}`
  return { connections: [{ config, shown, hasAlternative: false }], schema, shown: `postgres at ${shown}` }
}

export interface MemberOptions {
  host: string
  role?: MemberRole
  group?: string
  drivers?: readonly string[]
  timing?: Partial<MemberTiming>
}

/** A member of a database, with its store. */
export interface OpenMember extends AsyncDisposable {
  readonly host: string
  readonly members: Members
  readonly store: SharedStore
  /** Names of what its watcher has heard, in order. */
  readonly heard: string[]
}

export async function openMemberStore(address: DatabaseAddress, host: string, clock: Clock): Promise<SharedStore> {
  return openDatabase({ address, clock, logger: silent, host })
}

/** A member that has begun, and works on nothing. */
export async function openMember(
  address: DatabaseAddress,
  { host, role = 'all', group = '', drivers = ['fake-hardware'], timing = {} }: MemberOptions,
): Promise<OpenMember> {
  const clock = systemClock()
  const store = await openMemberStore(address, host, clock)
  const members = new Members({
    others: store.others!,
    self: { host, role, group, drivers, url: null, version: 'test' },
    clock,
    logger: silent,
    timing,
  })
  const heard: string[] = []
  members.watch({
    gained: (_nodes: NodesOfShare, left) => {
      heard.push(left)
      return Promise.resolve()
    },
    finishing: () => Promise.resolve(),
    lost: () => void heard.push('lost'),
    changed: () => {},
    gone: (hosts) => void heard.push(...hosts.map((gone) => `gone ${gone}`)),
    busy: () => [],
  })
  try {
    await members.begin()
  } catch (error) {
    await members.end()
    await store[Symbol.asyncDispose]()
    throw error
  }
  return {
    host,
    members,
    store,
    heard,
    [Symbol.asyncDispose]: async () => {
      await members.end()
      await store[Symbol.asyncDispose]()
    },
  }
}

/** Nodes of one driver, one in each shard or several. */
export const nodesOf = (uuids: readonly string[], driver = 'fake-hardware', group = ''): PlacedNodeRecord[] =>
  uuids.map((uuid) => ({ uuid, driver, conductor_group: group }))

export type PlacedNodeRecord = Pick<NodeRecord, 'uuid' | 'driver' | 'conductor_group'>
