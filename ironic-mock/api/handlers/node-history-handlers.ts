import {
  ironicErrors,
  formatClientValue,
  type JsonObject,
  type Microversion,
  type NodeRecord,
} from '../../../base/wire/index.js'
import type { HandlersOf } from '../call.js'
import type { HistoryEntry } from '../../store/store.js'
import { findCallNode } from '../nodes/find-node.js'
import { isLogicalName, isUuid } from '../formats.js'
import type { Links } from '../api-links.js'
import { MAX_LIMIT, type PagingArgs } from '../listing.js'
import { shownTime } from '../render-node.js'

interface HistoryView {
  readonly node: NodeRecord
  readonly links: Links
  readonly version: Microversion
  readonly detail: boolean
}

function shownEntry(entry: HistoryEntry, { node, links, version, detail }: HistoryView): JsonObject {
  const out: JsonObject = {
    uuid: entry.uuid,
    created_at: shownTime(entry.created_at),
    severity: entry.severity,
  }
  if (detail) out.event_type = entry.event_type
  out.event = detail ? entry.event : shortened(entry.event)
  if (detail) {
    out.conductor = entry.conductor
    out.user = null
    if (version >= 113) out.project = null
    if (version >= 115) {
      out.state = entry.state ?? null
      out.target_provision_state = entry.target_provision_state ?? null
      out.duration_seconds = entry.duration_seconds ?? null
    }
  }
  out.links = [links.self(`nodes/${node.uuid}/history/${entry.uuid}`)]
  return out
}

/** Shortens a long event as upstream does in lists (recorded: 254 characters, the last three of them dots). */
const shortened = (event: string): string => (event.length > 255 ? `${event.slice(0, 251)}...` : event)

const HISTORY_FIELDS = ['uuid', 'created_at', 'severity', 'event'] as const
const HISTORY_DETAIL = [
  'uuid',
  'created_at',
  'severity',
  'event_type',
  'event',
  'conductor',
  'user',
  'project',
  'state',
  'target_provision_state',
  'duration_seconds',
]

interface HistoryPaging {
  limit: number
  key: string
  dir: 'asc' | 'desc'
}

function historyPaging({ limit, sort_key, sort_dir }: PagingArgs): HistoryPaging {
  if (limit != null && limit <= 0) throw ironicErrors.limitNotPositive()
  const dir = sort_dir ?? 'asc'
  if (dir !== 'asc' && dir !== 'desc') throw ironicErrors.sortDir(dir)
  const key = sort_key ?? 'created_at'
  if (!['id', 'updated_at', ...HISTORY_DETAIL].includes(key)) throw ironicErrors.sortKey(key)
  return { limit: Math.min(limit ?? MAX_LIMIT, MAX_LIMIT), key, dir }
}

function sortedHistory(entries: readonly HistoryEntry[], { key, dir }: HistoryPaging): HistoryEntry[] {
  const sign = dir === 'asc' ? 1 : -1
  const valueOf = (entry: HistoryEntry): unknown => entry[key as keyof HistoryEntry] ?? ''
  // Entries are stored in order of creation, which decides between equal keys and for `id`.
  return entries
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => {
      const x = valueOf(a.entry) as string
      const y = valueOf(b.entry) as string
      return sign * (x < y ? -1 : x > y ? 1 : a.index - b.index)
    })
    .map(({ entry }) => entry)
}

/** Handlers of a node's history. */
export const historyHandlers: HandlersOf<'nodes.history' | 'nodes.history.entry'> = {
  'nodes.history': async (call, backend) => {
    const { marker } = call.args
    const detail = call.args.detail ?? false
    const node = findCallNode(call, backend, call.args.node_ident)
    const all = await backend.store.history(node.uuid)
    const after = marker == null ? -1 : all.findIndex(({ uuid }) => uuid === marker)
    if (marker != null && after < 0) throw ironicErrors.historyNotFound(marker)
    const paging = historyPaging(call.args)
    const ordered = sortedHistory(all, paging)
    const from = marker == null ? 0 : ordered.findIndex(({ uuid }) => uuid === marker) + 1
    const view = { node, links: call.links, version: call.version, detail }
    const history = ordered.slice(from, from + paging.limit).map((entry) => shownEntry(entry, view))
    if (history.length < paging.limit) return { body: { history } }
    const query = [
      ...(marker == null ? ['marker=None'] : []),
      `sort_key=${paging.key}`,
      `sort_dir=${paging.dir}`,
      `fields=${(detail ? HISTORY_DETAIL : HISTORY_FIELDS).join()}`,
      `limit=${paging.limit}`,
      `marker=${formatClientValue(history.at(-1)!.uuid)}`,
    ].join('&')
    return { body: { history, next: call.links.href(`nodes/${call.args.node_ident}/history?${query}`) } }
  },
  'nodes.history.entry': async (call, backend) => {
    const { event } = call.args
    if (!isUuid(event) && !isLogicalName(event)) throw ironicErrors.expected('UUID or name', 'event', event)
    const node = findCallNode(call, backend, call.args.node_ident)
    const entry = (await backend.store.history(node.uuid)).find(({ uuid }) => uuid === call.args.event)
    if (!entry) throw ironicErrors.historyNotFound(call.args.event)
    return { body: shownEntry(entry, { node, links: call.links, version: call.version, detail: true }) }
  },
}
