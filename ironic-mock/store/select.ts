import type { NodeRecord, PortRecord, ResourceKind, ResourceRecords } from '../../base/wire/index.js'
import type { ResourceTable } from './store-resources.js'
import type { NodeQuery, PortQuery, ResourceQuery } from './store.js'
import type { NodeEntry, Records } from './record-store.js'

/**
 * Selects one page of nodes, as shared records. Without a sort key the order is that of creation, and the search stops
 * as soon as the page is full.
 */
export function selectNodes(records: Records, query: NodeQuery): NodeEntry[] {
  const matches = (entry: NodeEntry): boolean => {
    const { provision_state, driver, instance_uuid, where } = query
    const { columns } = entry
    return (
      (provision_state === undefined || columns.provision_state === provision_state) &&
      (driver === undefined || columns.driver === driver) &&
      (instance_uuid === undefined || columns.instance_uuid === instance_uuid) &&
      (!where || where(entry.record))
    )
  }
  const candidates = query.uuids
    ? query.uuids.flatMap((uuid) => records.nodes.get(uuid) ?? []).sort((a, b) => a.columns.id - b.columns.id)
    : records.orderedNodes()
  return selectPage(
    candidates,
    matches,
    (entry) => entry.columns,
    sorting<NodeEntry, NodeRecord>(query, (entry) => entry.record),
    query,
  )
}

export function selectPorts(records: Records, query: PortQuery): PortRecord[] {
  let candidates: PortRecord[]
  if (query.addresses)
    candidates = query.addresses
      .flatMap((address) => records.ports.get(records.portsByAddress.get(address) ?? '') ?? [])
      .sort((a, b) => a.id - b.id)
  else if (query.node_uuid !== undefined) candidates = records.portsOf(query.node_uuid)
  else candidates = [...records.ports.values()].sort((a, b) => a.id - b.id)
  const matches = (port: PortRecord): boolean =>
    (query.node_uuid === undefined || port.node_uuid === query.node_uuid) && (!query.where || query.where(port))
  return selectPage(
    candidates,
    matches,
    (port) => port,
    sorting<PortRecord, PortRecord>(query, (port) => port),
    query,
  )
}

export function selectResources<Kind extends ResourceKind>(
  table: ResourceTable<Kind>,
  query: ResourceQuery<Kind>,
): ResourceRecords[Kind][] {
  const candidates = query.node_uuid === undefined ? table.ordered() : table.of(query.node_uuid)
  return selectPage(
    candidates,
    (record) => !query.where || query.where(record),
    (record) => record,
    sorting<ResourceRecords[Kind], ResourceRecords[Kind]>(query, (record) => record),
    query,
  )
}

interface Sorting<T> {
  descending: boolean
  compare: ((a: T, b: T) => number) | undefined
}

function sorting<T, R extends { id: number }>(
  query: { sortKey?: keyof R; sortDir?: 'asc' | 'desc' },
  record: (item: T) => R,
): Sorting<T> {
  const key = query.sortKey
  if (key === undefined || key === 'id') return { descending: query.sortDir === 'desc', compare: undefined }
  return {
    descending: query.sortDir === 'desc',
    // Equal keys stay in the order of creation in both directions, so that a marker is unambiguous.
    compare: (a, b) => {
      const order = compareValues(record(a)[key], record(b)[key])
      return (query.sortDir === 'desc' ? -order : order) || record(a).id - record(b).id
    },
  }
}

function selectPage<T>(
  candidates: T[],
  matches: (item: T) => boolean,
  key: (item: T) => { uuid: string },
  { compare, descending }: Sorting<T>,
  { marker, limit = Infinity }: { marker?: string; limit?: number },
): T[] {
  const ordered = compare ? candidates.filter(matches).sort(compare) : descending ? candidates.reverse() : candidates
  // The marker need not match the filter: the page begins after its place.
  const start = marker === undefined ? 0 : ordered.findIndex((item) => key(item).uuid === marker) + 1
  const result: T[] = []
  for (let i = start; i < ordered.length && result.length < limit; i++) {
    const item = ordered[i]!
    if (compare || matches(item)) result.push(item)
  }
  return result
}

/** Compares as SQL does: nulls first, then by value. */
function compareValues(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (a === null || a === undefined) return -1
  if (b === null || b === undefined) return 1
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : 1
  return Number(a) - Number(b)
}
