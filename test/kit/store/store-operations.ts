import fc from 'fast-check'
import type { NodeRecord } from '../../../base/wire/index.js'
import type { StoreView } from '../../../ironic-mock/store/open-store.js'
import type { Commit, Store } from '../../../ironic-mock/store/store.js'
import { AT, chassis, node, port, portgroup } from '../store-records.js'

/**
 * Random work on stores. Records are few, so that values conflict, references dangle and revisions are stale. Effects,
 * chassis and portgroups are named by uuid: stores differ in ids.
 */

const NODES = ['n1', 'n2', 'n3']
const nodeIds = fc.constantFrom(...NODES)
const nameValues = fc.constantFrom<(string | null)[]>(null, 'x', 'y', "quote's \\ \ud83d\ude80")
const macs = fc.constantFrom('52:54:00:00:00:01', '52:54:00:00:00:02', '52:54:00:00:00:03')
const portIds = fc.constantFrom('p1', 'p2', 'p3')
const groupIds = fc.constantFrom('g1', 'g2')
const chassisIds = fc.constantFrom('c1', 'c2')

/** A commit, with revisions and ids that are looked up where it is made. */
interface WantedCommit {
  readonly node: string
  /** Revisions that the commit is behind the node. */
  readonly behind: number
  readonly name: string | null | undefined
  readonly instance: string | null | undefined
  readonly chassis: string | null | undefined
  readonly effects: readonly number[]
  readonly finishes: 'first' | 'all' | 'none'
  readonly deadline: number | null | undefined
  readonly newPort: { uuid: string; address: string; group: string | null } | undefined
  readonly lostPort: string | undefined
  readonly newGroup: { uuid: string; name: string | null } | undefined
  readonly hasHistory: boolean
  readonly traits: readonly string[] | undefined
}

export type StoreOperation =
  | { readonly do: 'create node'; readonly node: string; readonly name: string | null; readonly chassis: string | null }
  | { readonly do: 'remove node'; readonly node: string; readonly behind: number }
  | { readonly do: 'commit'; readonly commit: WantedCommit }
  | { readonly do: 'create port'; readonly uuid: string; readonly node: string; readonly address: string }
  | { readonly do: 'move port'; readonly uuid: string; readonly node: string; readonly address: string }
  | { readonly do: 'remove port'; readonly uuid: string }
  | { readonly do: 'create group'; readonly uuid: string; readonly node: string; readonly name: string | null }
  | { readonly do: 'rename group'; readonly uuid: string; readonly name: string | null; readonly refuses: boolean }
  | { readonly do: 'remove group'; readonly uuid: string; readonly refuses: boolean }
  | { readonly do: 'create chassis'; readonly uuid: string }

const behind = fc.constantFrom(0, 0, 0, 1)
const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(values, { nil: undefined })

const commits: fc.Arbitrary<WantedCommit> = fc.record({
  node: nodeIds,
  behind,
  name: maybe(nameValues),
  instance: maybe(fc.constantFrom(null, 'i1', 'i2')),
  chassis: maybe(fc.option(chassisIds)),
  effects: fc.array(fc.nat(9), { maxLength: 3 }),
  finishes: fc.constantFrom('none', 'first', 'all'),
  deadline: maybe(fc.option(fc.nat(1000))),
  newPort: maybe(fc.record({ uuid: portIds, address: macs, group: fc.option(groupIds) })),
  lostPort: maybe(portIds),
  newGroup: maybe(fc.record({ uuid: groupIds, name: nameValues })),
  hasHistory: fc.boolean(),
  traits: maybe(fc.array(fc.constantFrom('CUSTOM_A', 'CUSTOM_B'), { maxLength: 2 })),
})

const does = <Name extends string>(name: Name) => fc.constant(name)
const operations: fc.Arbitrary<StoreOperation> = fc.oneof(
  fc.record({ do: does('create node'), node: nodeIds, name: nameValues, chassis: fc.option(chassisIds) }),
  fc.record({ do: does('remove node'), node: nodeIds, behind }),
  { weight: 5, arbitrary: fc.record({ do: does('commit'), commit: commits }) },
  fc.record({ do: does('create port'), uuid: portIds, node: nodeIds, address: macs }),
  fc.record({ do: does('move port'), uuid: portIds, node: nodeIds, address: macs }),
  fc.record({ do: does('remove port'), uuid: portIds }),
  fc.record({ do: does('create group'), uuid: groupIds, node: nodeIds, name: nameValues }),
  fc.record({ do: does('rename group'), uuid: groupIds, name: nameValues, refuses: fc.boolean() }),
  fc.record({ do: does('remove group'), uuid: groupIds, refuses: fc.boolean() }),
  fc.record({ do: does('create chassis'), uuid: chassisIds }),
)

/** Groups of operations that are asked for at once, so that they share a transaction. */
export const operationGroups: fc.Arbitrary<StoreOperation[][]> = fc.array(
  fc.array(operations, { minLength: 1, maxLength: 5 }),
  { minLength: 5, maxLength: 15 },
)

class RefusedByCaller extends Error {
  override name = 'RefusedByCaller'
}

/**
 * Does a group of operations at once, and returns their answers as they compare between stores.
 *
 * @param knows the operations are worked out from its records
 */
export async function doOperations(
  store: Store & StoreView,
  group: readonly StoreOperation[],
  knows: Store = store,
): Promise<unknown[]> {
  const calls: (() => Promise<unknown>)[] = []
  for (const operation of group) calls.push(await callOf(store, operation, knows))
  const outcomes = await Promise.allSettled(calls.map((call) => call()))
  return outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? withoutIds(outcome.value ?? null) : refusalOf(outcome.reason),
  )
}

/** Ids are a store's own choice. Messages of references name them. */
function refusalOf(error: unknown): unknown {
  const { name, field, value, kind, message } = error as Error & { field?: string; value?: string; kind?: string }
  return name === 'DanglingReference' ? { name, kind } : { name, field, value, kind, message }
}

async function callOf(
  store: Store & StoreView,
  operation: StoreOperation,
  knows: Store,
): Promise<() => Promise<unknown>> {
  switch (operation.do) {
    case 'create node': {
      const fields = { name: operation.name, chassis_id: await chassisId(knows, operation.chassis) }
      return () => store.createNode(node(operation.node, fields))
    }
    case 'remove node': {
      const expected = (await revisionOf(knows, operation.node)) - operation.behind
      return () => store.removeNode(operation.node, expected)
    }
    case 'commit': {
      const change = await changeOf(knows, operation.commit)
      return () => store.commit(change)
    }
    case 'create port':
      return () => store.createPort(port(operation.address, operation.node, operation.uuid))
    case 'move port':
      return () =>
        store.updatePort(operation.uuid, ({ extra }) => ({
          address: operation.address,
          node_uuid: operation.node,
          portgroup_id: null,
          extra: { moves: Number(extra['moves'] ?? 0) + 1 },
        }))
    case 'remove port':
      return () => store.removePort(operation.uuid)
    case 'create group':
      return () =>
        store.createResource('portgroup', portgroup(operation.uuid, operation.node, { name: operation.name }))
    case 'rename group':
      return () =>
        store.updateResource('portgroup', operation.uuid, () => {
          if (operation.refuses) throw new RefusedByCaller('no other name')
          return { name: operation.name }
        })
    case 'remove group':
      return () =>
        store.removeResource('portgroup', operation.uuid, () => {
          if (operation.refuses) throw new RefusedByCaller('in use')
        })
    case 'create chassis':
      return () => store.createResource('chassis', chassis(operation.uuid))
  }
}

const MISSING_ID = 999_999

/** Id of a chassis, or one that none has. */
const chassisId = async (store: Store, uuid: string | null): Promise<number | null> =>
  uuid === null ? null : ((await store.resource('chassis', uuid))?.id ?? MISSING_ID)

const revisionOf = async (store: Store, uuid: string): Promise<number> => (await store.node(uuid))?.revision ?? 1

async function changeOf(store: Store, wanted: WantedCommit): Promise<Commit> {
  const { node: uuid } = wanted
  const patch: Partial<NodeRecord> = {}
  if (wanted.name !== undefined) patch.name = wanted.name
  if (wanted.instance !== undefined) patch.instance_uuid = wanted.instance
  if (wanted.chassis !== undefined) patch.chassis_id = await chassisId(store, wanted.chassis)
  const change: Commit = {
    node: uuid,
    expect: (await revisionOf(store, uuid)) - wanted.behind,
    patch,
    effects: wanted.effects.map((n) => ({ kind: 'power', payload: { n } })),
  }
  const first = (await store.effects(uuid))[0]
  if (wanted.finishes === 'all') change.dropEffects = true
  if (wanted.finishes === 'first' && first) change.done = first.id
  if (wanted.deadline !== undefined) change.deadlines = [{ kind: 'callback', at: wanted.deadline }]
  if (wanted.newPort) {
    const { uuid: portUuid, address, group } = wanted.newPort
    // The API lets a port join a portgroup of its node only.
    const known = group === null ? undefined : await store.resource('portgroup', group)
    const groupId = group === null || (known && known.node_uuid !== uuid) ? null : (known?.id ?? MISSING_ID)
    change.createPorts = [{ ...port(address, uuid, portUuid), id: 0, portgroup_id: groupId }]
  }
  if (wanted.lostPort !== undefined) change.removePorts = [wanted.lostPort]
  if (wanted.newGroup) {
    const record = portgroup(wanted.newGroup.uuid, uuid, { name: wanted.newGroup.name })
    change.resources = [{ do: 'create', kind: 'portgroup', record }]
  }
  if (wanted.hasHistory)
    change.history = [
      {
        uuid: 'h',
        created_at: AT,
        severity: 'INFO',
        event: 'NUL \u0000',
        event_type: 't',
        conductor: wanted.name ?? 'c',
      },
    ]
  if (wanted.traits) change.inventory = { inventory: { traits: [...wanted.traits] }, plugin_data: {} }
  return change
}

/** Contents of a store. */
interface StoreContents {
  readonly [part: string]: unknown
  /** Nodes in the order of their ids, which is that of their creation where one process has made them. */
  readonly created: readonly string[]
}

/** All that a store has, as it compares between stores: without ids, references by id as uuids. */
export async function storeContents(store: Store): Promise<StoreContents> {
  const uuids = await uuidsOfIds(store)
  const nodes = await store.nodes({ sortKey: 'uuid' })
  const perNode = await Promise.all(
    nodes.map(async (record) => ({
      record: withoutIds(record),
      revision: (await store.node(record.uuid))!.revision,
      chassis: record.chassis_id === null ? null : uuids.get(`chassis ${record.chassis_id}`),
      effects: (await store.effects(record.uuid)).map(({ kind, payload }) => ({ kind, payload })),
      inventory: await store.inventory(record.uuid),
      history: await store.history(record.uuid),
    })),
  )
  const ports = await store.ports({ sortKey: 'uuid' })
  const deadlines = await store.deadlines()
  return {
    perNode,
    ports: ports.map((record) => ({
      record: withoutIds(record),
      group: record.portgroup_id === null ? null : uuids.get(`portgroup ${record.portgroup_id}`),
    })),
    groups: (await store.resources('portgroup', { sortKey: 'uuid' })).map(withoutIds),
    chassis: (await store.resources('chassis', { sortKey: 'uuid' })).map(withoutIds),
    deadlines: deadlines.sort((a, b) => (a.node < b.node ? -1 : 1)),
    created: (await store.nodes({})).map(({ uuid }) => uuid),
  }
}

async function uuidsOfIds(store: Store): Promise<Map<string, string>> {
  const groups = await store.resources('portgroup', {})
  const all = await store.resources('chassis', {})
  return new Map([
    ...groups.map(({ id, uuid }) => [`portgroup ${id}`, uuid] as const),
    ...all.map(({ id, uuid }) => [`chassis ${id}`, uuid] as const),
  ])
}

const OWN_IDS = new Set(['id', 'chassis_id', 'portgroup_id'])

const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, part: unknown) => (OWN_IDS.has(key) ? undefined : part))) as unknown
