import { ironicErrors, IronicError, SINCE, type JsonObject, type NodeRecord } from '../../../base/wire/index.js'
import type { Backend, IronicApiCall, HandlersOf } from '../call.js'
import type { Heartbeat } from '../../conductor/core/conductor.js'
import { LOOKUP_STATES, LOOKUP_STATES_FAST_TRACK } from '../../conductor/core/transitions.js'
import { findCallNode } from '../nodes/find-node.js'
import { isMac } from '../formats.js'
import type { Links } from '../api-links.js'
import { renderNode } from '../render-node.js'

const LOOKUP_FIELDS = ['uuid', 'properties', 'instance_info', 'driver_internal_info']

/** Answer to a lookup: the node as the agent sees it, and its configuration with the token. */
function lookupAnswer(
  { node, config }: { node: NodeRecord; config: JsonObject },
  { links, version }: { links: Links; version: number },
  { conductor, store }: Backend,
): JsonObject {
  return {
    node: renderNode(node, { links, version, conductor, records: store.records, fields: LOOKUP_FIELDS }),
    config,
  }
}

/**
 * Finds the node of an agent. Unknown, ambiguous and unexpected nodes are the same 404, so that a stranger learns
 * nothing.
 */
async function findAgentNode(
  { args }: IronicApiCall<{ node_uuid?: string | null; addresses?: string[] | null }>,
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

const HEARTBEAT_FIELDS = ['agent_version', 'agent_verify_ca', 'agent_status', 'agent_status_message'] as const

/** Refuses fields newer than the client with 400; everywhere else that is a 406. */
function refuseNewerFields({ args, version }: IronicApiCall<Readonly<Partial<Record<string, string | null>>>>): void {
  if (args.agent_version && version < 36) throw ironicErrors.fieldNotRecognised('agent_version')
  if ((args.agent_status || args.agent_status_message) && version < 72)
    throw new IronicError(400, 'Fields "agent_status" and "agent_status_message" not recognised.')
  if (args.agent_verify_ca != null && version < 68)
    throw ironicErrors.fieldNotRecognised('agent_verify_ca', ' in this version')
}

export const ramdiskHandlers: HandlersOf<'lookup' | 'heartbeat' | 'continueInspection'> = {
  lookup: async (call, backend) => {
    const { uuid } = await findAgentNode(call, backend)
    const found = await backend.conductor.lookup(uuid, { issueToken: call.version >= SINCE.agentToken })
    return { body: lookupAnswer(found, call, backend) }
  },

  heartbeat: async (call, backend) => {
    const { args } = call
    refuseNewerFields(call)
    const node = findCallNode(call, backend, args.node_ident)
    const { callback_url: url, agent_status: status } = args
    if (url == null || (url !== '' && !url.split(':')[0]!.includes('http'))) throw ironicErrors.callbackUrl()
    const known = node.driver_internal_info.agent_url
    if (typeof known === 'string' && known !== url) throw ironicErrors.callbackUrlChanged()
    if (args.agent_token == null) throw ironicErrors.agentTokenRequired()
    if (status != null && !['start', 'end', 'error'].includes(status)) throw ironicErrors.agentStatus()
    const heartbeat: Heartbeat = { callback_url: url, agent_token: args.agent_token }
    for (const name of HEARTBEAT_FIELDS) if (args[name] != null) heartbeat[name] = args[name]
    await backend.conductor.heartbeat(node.uuid, heartbeat)
    return {}
  },

  continueInspection: async (call, backend) => {
    const { version, args } = call
    // Agents before 1.84 send no version, which means 1.1.
    const current = version >= SINCE.continueInspection
    if (!current && (version !== 1 || args.node_uuid != null))
      throw new IronicError(404, 'API version 1.84 or newer is required')
    // The conductor refuses an inventory without usable MACs and BMC address: only it knows by which of them it can
    // find the node.
    const parameters = [call.document, ...(args.node_uuid ? [args.node_uuid] : [])] as const
    if (!current) return { body: { uuid: (await backend.conductor.continueInspection(...parameters)).uuid } }
    const found = await backend.conductor.continueInspectionAsLookup(...parameters)
    return { body: lookupAnswer(found, call, backend) }
  },
}
