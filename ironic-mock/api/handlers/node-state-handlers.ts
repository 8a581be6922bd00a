import {
  ironicErrors,
  IronicError,
  NODE_FIELDS,
  SINCE,
  STATES_FIELDS,
  type DriverInterface,
  type JsonObject,
} from '../../../base/wire/index.js'
import type { HandlersOf } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'
import { isUuid } from '../formats.js'
import { checkProvision } from '../nodes/provision.js'
import { shownProvisionState, shownTime } from '../render-node.js'

const POWER_TARGETS = ['power on', 'power off', 'rebooting', 'soft power off', 'soft rebooting']

/** Interfaces in the order of their validation; `vendor` is not validated. */
const VALIDATED: readonly DriverInterface[] = [
  'boot',
  'deploy',
  'management',
  'network',
  'power',
  'bios',
  'console',
  'firmware',
  'inspect',
  'raid',
  'rescue',
  'storage',
]

export const stateHandlers: HandlersOf<
  | 'nodes.states'
  | 'nodes.provision'
  | 'nodes.power'
  | 'nodes.maintenance.set'
  | 'nodes.maintenance.unset'
  | 'nodes.validate'
  | 'nodes.bootDevice.get'
  | 'nodes.bootDevice.set'
  | 'nodes.bootDevice.supported'
> = {
  'nodes.states': async (call, backend) => {
    const node = findCallNode(call, backend, call.args.node_ident)
    const body: JsonObject = {}
    for (const name of STATES_FIELDS) {
      if ((NODE_FIELDS.find((field) => field.name === name)?.since ?? 1) > call.version) continue
      body[name] =
        name === 'provision_state'
          ? shownProvisionState(node.provision_state, call.version)
          : name === 'provision_updated_at'
            ? shownTime(node.provision_updated_at)
            : node[name]
    }
    return { body }
  },

  'nodes.provision': async (call, backend) => {
    const { node_ident: ident } = call.args
    const node = findCallNode(call, backend, ident)
    const { runbook: named } = call.args
    const runbook = named == null ? undefined : await backend.store.resource('runbook', named)
    const hasNode = (uuid: string): boolean => backend.store.records.nodes.has(uuid)
    const request = checkProvision(node, call.args, call.version, { runbook, hasNode })
    await backend.conductor.provision(node.uuid, request)
    return { location: call.links.href(`nodes/${ident}/states`) }
  },

  'nodes.power': async (call, backend) => {
    const { node_ident: ident, target, timeout } = call.args
    const node = findCallNode(call, backend, ident)
    backend.conductor.askNode(node.uuid)
    const wanted = target ?? 'None'
    if ((timeout != null || wanted.startsWith('soft ')) && call.version < SINCE.softPower)
      throw ironicErrors.notAcceptable()
    if (timeout != null && timeout <= 0) throw ironicErrors.powerTimeout()
    if (!POWER_TARGETS.includes(wanted))
      throw ironicErrors.invalidStateRequested(wanted, node.uuid, node.power_state ?? 'None')
    // A power change would interrupt the cleaning agent.
    if (node.provision_state === 'cleaning' || node.provision_state === 'clean wait')
      throw ironicErrors.invalidStateRequested(wanted, node.uuid, node.provision_state)
    await backend.conductor.changePower(node.uuid, wanted, ...(timeout == null ? [] : [timeout]))
    return { location: call.links.href(`nodes/${ident}/states`) }
  },

  'nodes.maintenance.set': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    await backend.conductor.setMaintenance(uuid, true, call.args.reason ?? null)
    return {}
  },
  'nodes.maintenance.unset': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    await backend.conductor.setMaintenance(uuid, false)
    return {}
  },

  'nodes.validate': async (call, backend) => {
    const { node: named, node_uuid: byUuid } = call.args as { node?: string | null; node_uuid?: string | null }
    const ident = byUuid ?? named
    if (ident == null) throw new IronicError(400, 'Expected a logical name or UUID but received None.')
    if (call.version < SINCE.nodeNames && !isUuid(ident)) throw ironicErrors.notAcceptable()
    const { uuid } = findCallNode(call, backend, ident)
    const validation = await backend.conductor.validate(uuid)
    return { body: Object.fromEntries(VALIDATED.map((kind) => [kind, validation[kind]])) }
  },

  'nodes.bootDevice.get': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    return { body: await backend.conductor.bootDevice(uuid) }
  },
  'nodes.bootDevice.set': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    await backend.conductor.setBootDevice(uuid, call.args.boot_device ?? 'None', call.args.persistent ?? false)
    return {}
  },
  'nodes.bootDevice.supported': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    return { body: { supported_boot_devices: await backend.conductor.supportedBootDevices(uuid) } }
  },
}
