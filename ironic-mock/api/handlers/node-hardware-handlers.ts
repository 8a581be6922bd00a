import {
  ironicErrors,
  IronicError,
  MEDIA_DEVICES,
  pythonRepr,
  type JsonObject,
  type MediaDevice,
  type Microversion,
  type NodeRecord,
} from '../../../base/wire/index.js'
import { UNSTABLE_STATES } from '../../conductor/core/transitions.js'
import type { HandlersOf } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'
import { checkTargetRaid } from '../nodes/raid-rules.js'

const MODE_CHANGES: Microversion = 76
const MEDIA_SHOWN: Microversion = 93

/** Refuses a change of modes during a transition; upstream's sentence has an empty placeholder. */
function checkSettled({ provision_state }: NodeRecord): void {
  if (UNSTABLE_STATES.includes(provision_state)) throw ironicErrors.modeInTransition()
}

/** URL schemes from which a BMC can insert an image. */
const SCHEMES = ['http:', 'https:', 'nfs:', 'cifs:']

function checkMediaUrl(url: string): void {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? ''
  if (!SCHEMES.includes(`${scheme}:`)) throw new IronicError(400, `Unsupported or missing URL scheme: ${scheme}`)
}

function checkDevices(
  devices: readonly string[] | null | undefined,
): asserts devices is MediaDevice[] | null | undefined {
  const invalid = (devices ?? []).filter((device) => !(MEDIA_DEVICES as readonly string[]).includes(device))
  if (invalid.length > 0)
    throw new IronicError(400, `Invalid device type(s) ${invalid.join(', ')} (valid are ${MEDIA_DEVICES.join(', ')})`)
}

/** Splits `NAME@COMPONENT`. */
function readIndicator(text: string): { name: string; component: string } {
  const at = text.indexOf('@')
  if (at < 0) throw new IronicError(400, `Malformed indicator name "${text}"`)
  return { name: text.slice(0, at), component: text.slice(at + 1) }
}

export const hardwareHandlers: HandlersOf<
  | 'nodes.raid'
  | 'nodes.bootMode'
  | 'nodes.secureBoot'
  | 'nodes.console.get'
  | 'nodes.console.set'
  | 'nodes.injectNmi'
  | 'nodes.indicators'
  | 'nodes.indicators.get'
  | 'nodes.indicators.set'
  | 'nodes.vmedia.get'
  | 'nodes.vmedia.attach'
  | 'nodes.vmedia.detach'
> = {
  'nodes.raid': async (call, backend) => {
    const config = call.document
    if (typeof config !== 'object' || config === null || Array.isArray(config))
      throw new IronicError(400, `Expected types <class 'dict'> for target_raid_config: ${pythonRepr(config)}`)
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    if (call.version < 12) throw ironicErrors.notAcceptable()
    backend.conductor.askNode(uuid)
    await backend.conductor.updateNode(uuid, (node) => {
      checkTargetRaid(node, config as JsonObject)
      return { target_raid_config: config as JsonObject }
    })
    return {}
  },

  'nodes.bootMode': async (call, backend) => {
    const { node_ident: ident, target } = call.args
    const node = findCallNode(call, backend, ident)
    backend.conductor.askNode(node.uuid)
    if (call.version < MODE_CHANGES) throw ironicErrors.endpointSince(MODE_CHANGES)
    if (target !== 'bios' && target !== 'uefi')
      throw new IronicError(
        400,
        `Invalid boot mode ${target ?? 'None'} requested for node. Allowed boot modes are: bios, uefi`,
      )
    checkSettled(node)
    await backend.conductor.hardware.setBootMode(node.uuid, target)
    return { location: call.links.href(`nodes/${ident}/states`) }
  },

  'nodes.secureBoot': async (call, backend) => {
    const { node_ident: ident, target } = call.args
    const node = findCallNode(call, backend, ident)
    backend.conductor.askNode(node.uuid)
    if (call.version < MODE_CHANGES) throw ironicErrors.endpointSince(MODE_CHANGES)
    // Upstream's sentence has this unmatched parenthesis.
    if (target == null)
      throw new IronicError(
        400,
        'Invalid secure_boot None requested for node. Allowed secure_boot states are: True, False) ',
      )
    checkSettled(node)
    await backend.conductor.hardware.setSecureBoot(node.uuid, target)
    return { location: call.links.href(`nodes/${ident}/states`) }
  },

  'nodes.console.get': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    const info = await backend.conductor.hardware.console(uuid)
    return { body: { console_enabled: info !== null, console_info: info } }
  },
  'nodes.console.set': async (call, backend) => {
    const { node_ident: ident, enabled } = call.args
    const { uuid } = findCallNode(call, backend, ident)
    await backend.conductor.hardware.setConsole(uuid, enabled ?? false)
    return { location: call.links.href(`nodes/${ident}/states/console`) }
  },

  'nodes.injectNmi': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    await backend.conductor.hardware.injectNmi(uuid)
    return {}
  },

  'nodes.indicators': async (call, backend) => {
    const { node_ident: ident } = call.args
    const { uuid } = findCallNode(call, backend, ident)
    const known = await backend.conductor.hardware.indicators(uuid)
    const indicators = Object.entries(known).flatMap(([component, names]) =>
      Object.entries(names).map(([own, { readonly, states }]) => {
        const name = `${own}@${component}`
        return {
          name,
          component,
          readonly,
          states,
          links: call.links.pair(`nodes/${ident}/management/indicators/${name}`),
        }
      }),
    )
    return { body: { indicators } }
  },
  'nodes.indicators.get': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    const { component, name } = readIndicator(call.args.indicator)
    return { body: { state: await backend.conductor.hardware.indicator(uuid, component, name) } }
  },
  'nodes.indicators.set': async (call, backend) => {
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    const { component, name } = readIndicator(call.args.indicator)
    await backend.conductor.hardware.setIndicator(uuid, component, name, call.args.state ?? 'None')
    return {}
  },

  'nodes.vmedia.get': async (call, backend) => {
    if (call.version < MEDIA_SHOWN) throw new IronicError(404, 'The resource could not be found.')
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    return { body: await backend.conductor.hardware.media(uuid) }
  },
  'nodes.vmedia.attach': async (call, backend) => {
    const wanted = call.document
    checkMediaUrl(wanted.image_url)
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    await backend.conductor.hardware.attachMedia(uuid, wanted.device_type, wanted.image_url)
    return {}
  },
  'nodes.vmedia.detach': async (call, backend) => {
    const { device_types: devices } = call.args
    checkDevices(devices)
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    await backend.conductor.hardware.detachMedia(uuid, devices?.length ? devices : null)
    return {}
  },
}
