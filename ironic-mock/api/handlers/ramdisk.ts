import { ironicErrors, SINCE, type JsonObject, type NodeRecord } from '../../../wire/index.js'
import type { Backend, Call, HandlersOf } from '../call.js'
import type { Heartbeat } from '../../conductor/conductor.js'
import { LOOKUP_STATES, LOOKUP_STATES_FAST_TRACK } from '../../conductor/transitions.js'
import { findNode } from '../find-node.js'
import { isMac } from '../formats.js'
import type { Links } from '../links.js'
import { renderNode } from '../render.js'

const LOOKUP_FIELDS = ['uuid', 'properties', 'instance_info', 'driver_internal_info']

/** What an agent learns of its node, and its configuration with the token. */
function lookupAnswer(
  { node, config }: { node: NodeRecord; config: JsonObject },
  { links, version }: { links: Links; version: number },
  host: string,
): JsonObject {
  return { node: renderNode(node, { links, version, host, fields: LOOKUP_FIELDS }), config }
}

/** The one node that the agent can mean; unknown, ambiguous and not waiting are the same 404 to a stranger. */
async function lookedUp(
  { args }: Call<{ node_uuid?: string | null; addresses?: string[] | null }>,
  { store, fastTrack }: Backend,
): Promise<NodeRecord> {
  const addresses = (args.addresses ?? []).filter(isMac)
  if (!args.node_uuid && addresses.length === 0) throw ironicErrors.lookupWithoutKeys()
  let uuid = args.node_uuid ?? undefined
  if (!uuid) {
    const owners = new Set((await store.ports({ addresses })).map((port) => port.node_uuid))
    if (owners.size === 1) [uuid] = owners
  }
  const node = uuid ? (await store.node(uuid))?.node : undefined
  const allowed = fastTrack ? LOOKUP_STATES_FAST_TRACK : LOOKUP_STATES
  if (!node || !allowed.includes(node.provision_state)) throw ironicErrors.resourceNotFound()
  return node
}

const HEARTBEAT_FIELDS = [
  { name: 'agent_version', since: 36, suffix: '' },
  { name: 'agent_verify_ca', since: 68, suffix: ' in this version' },
  { name: 'agent_status', since: 72, suffix: ' in this version' },
  { name: 'agent_status_message', since: 72, suffix: ' in this version' },
] as const

export const ramdiskHandlers: HandlersOf<'lookup' | 'heartbeat' | 'continueInspection'> = {
  lookup: async (call, backend) => {
    const { uuid } = await lookedUp(call, backend)
    const found = await backend.conductor.lookup(uuid, { issueToken: call.version >= SINCE.agentToken })
    return { body: lookupAnswer(found, call, backend.conductor.host) }
  },

  heartbeat: async (call, backend) => {
    const { args, version } = call
    // A field that is too new is a 400 here, a 406 everywhere else.
    for (const { name, since, suffix } of HEARTBEAT_FIELDS)
      if (args[name] != null && version < since) throw ironicErrors.fieldNotRecognised(name, suffix)
    const node = await findNode(call, backend, args.node_ident)
    const { callback_url: url, agent_status: status } = args
    if (url == null || !/^https?:\/\//.test(url)) throw ironicErrors.callbackUrl()
    const known = node.driver_internal_info.agent_url
    if (typeof known === 'string' && known !== url) throw ironicErrors.callbackUrlChanged()
    if (!args.agent_token) throw ironicErrors.agentTokenRequired()
    if (status != null && !['start', 'end', 'error'].includes(status)) throw ironicErrors.agentStatus()
    const heartbeat: Heartbeat = { callback_url: url, agent_token: args.agent_token }
    for (const { name } of HEARTBEAT_FIELDS) if (args[name] != null) heartbeat[name] = args[name]
    await backend.conductor.heartbeat(node.uuid, heartbeat)
    return {}
  },

  continueInspection: async (call, backend) => {
    const { version, args } = call
    // Agents from before 1.84 send no version at all, which is 1.1.
    const current = version >= SINCE.continueInspection
    if (!current && (version !== 1 || args.node_uuid != null)) throw ironicErrors.resourceNotFound()
    const data = call.document as InspectionData
    const { inventory } = data
    const macs = inventory.interfaces.map(({ mac_address }) => mac_address.toLowerCase()).filter(isMac)
    if (macs.length === 0 && !inventory.bmc_address && !inventory.bmc_v6address && !args.node_uuid)
      throw ironicErrors.nothingToLookUp()
    // The token is made first: once the data is taken, the node is locked for the work on it.
    const greeted = current ? await greet(args.node_uuid ?? undefined, macs, backend) : undefined
    const node = await backend.conductor.continueInspection(data, ...(args.node_uuid ? [args.node_uuid] : []))
    if (!current) return { body: { uuid: node.uuid } }
    const known = greeted ?? (await backend.conductor.lookup(node.uuid, { issueToken: false }))
    return { body: lookupAnswer(known, call, backend.conductor.host) }
  },
}

type InspectionData = JsonObject & { inventory: JsonObject & { interfaces: { mac_address: string }[] } }

/** The node that waits for this inventory, greeted as in a lookup; undefined when only its BMC tells which one it is. */
async function greet(
  nodeUuid: string | undefined,
  macs: readonly string[],
  { store, conductor }: Backend,
): Promise<{ node: NodeRecord; config: JsonObject } | undefined> {
  const owners = nodeUuid ? [nodeUuid] : (await store.ports({ addresses: macs })).map((port) => port.node_uuid)
  const [uuid, ...others] = new Set(owners)
  if (uuid === undefined || others.length > 0) return undefined
  const found = await store.node(uuid)
  if (found?.node.provision_state !== 'inspect wait') return undefined
  return conductor.lookup(uuid, { issueToken: true })
}
