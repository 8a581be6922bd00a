import { shareText } from '../../../base/runtime/index.js'
import type { NodeListKind, PortRecord, ResourceKind, ResourceRecords } from '../../../base/wire/index.js'
import { NodeEntry } from '../record-store.js'
import type { NodeImage, ResourceImage } from './changed-rows.js'
import { workOfText, type ChangedKeys } from './row-statements.js'

/** A row of `nodes`, with {@link NODE_COLUMNS}. */
export interface NodeRow {
  id: string
  uuid: string
  name: string | null
  instance_uuid: string | null
  provision_state: string
  driver: string
  revision: string
  record: string
  work: string | null
}

export interface PortRow {
  id: string
  uuid: string
  version: number
  record: string
}

export interface ResourceRow extends PortRow {
  kind: ResourceKind
}

export interface ListRow {
  node: string
  kind: NodeListKind
  record: string
}

export const NODE_COLUMNS = [
  'id',
  'uuid',
  'name',
  'instance_uuid',
  'provision_state',
  'driver',
  'revision',
  'record',
  'work',
] as const

const NODE_LIST = NODE_COLUMNS.join(', ')

/** The statements that read whole tables in pages, each after the last row of the page before. */
export const PAGES = {
  nodes: `select ${NODE_LIST} from nodes where id > $1 order by id limit $2`,
  ports: 'select id, uuid, version, record from ports where id > $1 order by id limit $2',
  resources: 'select id, kind, uuid, version, record from resources where id > $1 order by id limit $2',
} as const

export const ALL_LISTS = 'select node, kind, record from node_lists'

/** The statements that read what another process has changed; each takes an array of uuids, that of
 * resources after one of their kinds. */
export const CHANGED = {
  nodes: { name: 'changed-nodes', text: `select ${NODE_LIST} from nodes where uuid = any($1)` },
  ports: { name: 'changed-ports', text: 'select id, uuid, version, record from ports where uuid = any($1)' },
  resources: {
    name: 'changed-resources',
    text: `select id, kind, uuid, version, record from resources
      where (kind, uuid) in (select * from unnest($1::text[], $2::text[]))`,
  },
  lists: { name: 'changed-lists', text: 'select node, kind, record from node_lists where node = any($1)' },
} as const

export function nodeImageOf(row: NodeRow): NodeImage {
  const columns = {
    id: Number(row.id),
    uuid: row.uuid,
    name: row.name,
    instance_uuid: row.instance_uuid,
    provision_state: row.provision_state as NodeEntry['columns']['provision_state'],
    driver: row.driver,
  }
  return {
    entry: NodeEntry.stored(columns, Number(row.revision), row.record),
    work: workOfText(row.uuid, row.work),
  }
}

export const portOf = ({ record }: PortRow): PortRecord => JSON.parse(record) as PortRecord

export const resourceImageOf = ({ kind, record }: ResourceRow): ResourceImage => ({
  kind,
  record: JSON.parse(record) as ResourceRecords[ResourceKind],
})

export const listElements = ({ record }: ListRow): string[] =>
  (JSON.parse(record) as unknown[]).map((element) => shareText(JSON.stringify(element)))

/** Joins the keys of several transactions, each once. */
export function joinKeys(all: readonly ChangedKeys[]): ChangedKeys {
  const resources = new Map(all.flatMap((keys) => keys.resources.map((key) => [key.join(' '), key] as const)))
  const once = (of: (keys: ChangedKeys) => readonly string[]) => [...new Set(all.flatMap(of))]
  return {
    nodes: once(({ nodes }) => nodes),
    ports: once(({ ports }) => ports),
    resources: [...resources.values()],
    lists: once(({ lists }) => lists),
  }
}
