import { ironicErrors, type JsonObject, type Microversion, type NodeRecord } from '../../../wire/index.js'
import type { HandlersOf } from '../call.js'
import type { HistoryEntry } from '../../store/store.js'
import { findNode } from '../find-node.js'
import type { Links } from '../links.js'
import { shownTime } from '../render.js'

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
      out.duration_seconds = entry.duration_seconds ?? 0
    }
  }
  out.links = [links.self(`nodes/${node.uuid}/history/${entry.uuid}`)]
  return out
}

/** A list shows the beginning of a long event (recorded: 254 characters of it, the last three of them dots). */
const shortened = (event: string): string => (event.length > 255 ? `${event.slice(0, 251)}...` : event)

/** What is kept beside a node: what it was inspected to have, and what has happened to it. */
export const recordHandlers: HandlersOf<
  'nodes.inventory' | 'nodes.firmware' | 'nodes.bios' | 'nodes.bios.setting' | 'nodes.history' | 'nodes.history.entry'
> = {
  'nodes.inventory': async (call, backend) => {
    const node = await findNode(call, backend, call.args.node_ident)
    const kept = await backend.store.inventory(node.uuid)
    if (!kept) throw ironicErrors.inventoryNotFound(node.id)
    return { body: { inventory: kept.inventory, plugin_data: kept.plugin_data } }
  },

  // No driver reads components or settings yet, so every node has none of them.
  'nodes.firmware': async (call, backend) => {
    await findNode(call, backend, call.args.node_ident)
    return { body: { firmware: [] } }
  },
  'nodes.bios': async (call, backend) => {
    await findNode(call, backend, call.args.node_ident)
    return { body: { bios: [] } }
  },
  'nodes.bios.setting': async (call, backend) => {
    const node = await findNode(call, backend, call.args.node_ident)
    throw ironicErrors.biosSettingNotFound(node.uuid, call.args.setting_name)
  },

  'nodes.history': async (call, backend) => {
    const { detail, limit, marker } = call.args
    const node = await findNode(call, backend, call.args.node_ident)
    if (limit != null && limit <= 0) throw ironicErrors.limitNotPositive()
    let entries = await backend.store.history(node.uuid)
    if (marker) {
      const at = entries.findIndex(({ uuid }) => uuid === marker)
      if (at < 0) throw ironicErrors.historyNotFound(marker)
      entries = entries.slice(at + 1)
    }
    const view = { node, links: call.links, version: call.version, detail: detail ?? false }
    const history = entries.slice(0, limit ?? entries.length).map((entry) => shownEntry(entry, view))
    return { body: { history } }
  },
  'nodes.history.entry': async (call, backend) => {
    const node = await findNode(call, backend, call.args.node_ident)
    const entry = (await backend.store.history(node.uuid)).find(({ uuid }) => uuid === call.args.event)
    if (!entry) throw ironicErrors.historyNotFound(call.args.event)
    return { body: shownEntry(entry, { node, links: call.links, version: call.version, detail: true }) }
  },
}
