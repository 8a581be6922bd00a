import { isIP } from 'node:net'
import { IronicError, type JsonObject, type PortRecord } from '../../wire/index.js'
import { inspectProblem, powerProblem } from '../drivers/requirements.js'
import { valueOf, type Outcome } from './effects.js'
import { fastTrackEnabled } from './fast-track.js'
import { runHooks } from './inspection-hooks.js'
import { startInspectionRamdisk } from './ramdisk.js'
import type { Turn } from './turn.js'
import { wipeAgent } from './wipe.js'

/** The history's word for it. */
const EVENT_TYPE = 'introspection'

/**
 * `inspect`.
 *
 * @throws IronicError 400 when the node's interfaces cannot
 */
export function startInspection(turn: Turn): void {
  const problem = powerProblem(turn.node) ?? inspectProblem(turn.node)
  if (problem !== undefined)
    throw new IronicError(400, `Failed to validate inspection or power info for node ${turn.uuid}: ${problem}`)
  turn.begin('inspect')
  if (turn.node.inspect_interface === 'fake') return turn.run([{ kind: 'proceed' }], 'inspection.fake')
  wipeAgent(turn)
  // Ironic leaves it to the environment what the machine boots from the network (facts/ironic.md 6.2).
  turn.setInfo({ inspector_manage_boot: false })
  const addresses = bmcAddresses(turn.node.driver_info)
  if (addresses.length > 0) turn.setInfo({ lookup_bmc_addresses: addresses })
  turn.run([{ kind: 'power', target: 'power off' }, startInspectionRamdisk(turn)], 'inspection.booted')
}

/** By which the posted data is matched when no MAC is known. Names are not resolved. */
function bmcAddresses({ redfish_address, ipmi_address }: JsonObject): string[] {
  const address = typeof redfish_address === 'string' ? redfish_address : ipmi_address
  if (typeof address !== 'string') return []
  const url = address.includes('://') ? address : `https://${address}`
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : ''
  return isIP(host) === 0 ? [] : [host]
}

export function inspectionFake(turn: Turn): void {
  turn.process('done')
  turn.rest()
}

export function inspectionBooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return inspectionFailed(turn, `Failed to inspect hardware. Reason: ${outcome.error}`)
  turn.process('wait')
  turn.rest()
}

/** The agent has posted what it found. It is answered now; the work on it follows. */
export function receiveInventory(turn: Turn, data: JsonObject, token: string | null): void {
  turn.process('resume')
  turn.setInfo({ agent_last_heartbeat: turn.now })
  if (token !== null && turn.info.agent_secret_token === undefined) turn.setInfo({ agent_secret_token: token })
  const { logs: _, ...kept } = data
  const interfaces = (kept.inventory as { interfaces?: { mac_address?: unknown }[] } | undefined)?.interfaces ?? []
  const addresses = interfaces.map(({ mac_address }) => String(mac_address).toLowerCase())
  turn.run([{ kind: 'find-ports', addresses }], 'inspection.hooks', { data: kept })
}

export function inspectionHooks(turn: Turn, outcome: Outcome, memo: { data: JsonObject }): void {
  const taken: PortRecord[] = outcome.ok ? valueOf(outcome, 'find-ports') : []
  const found = runHooks(turn.node, turn.situation.ports, taken, memo.data)
  // What the data asked for is gone from here on, also when it is of no use.
  turn.dropInfo('inspector_manage_boot', 'lookup_bmc_addresses')
  if ('error' in found) {
    const hooks = `failed to run inspection hooks: Failed to inspect hardware. Reason: ${found.error}`
    const error = `Failed to inspect hardware. Reason: ${hooks}`
    turn.node.last_error = hooks
    turn.record('ERROR', `Failed to finish inspection: ${error}`, EVENT_TYPE)
    return end(turn, { error })
  }
  turn.node.properties = { ...turn.node.properties, ...found.properties }
  turn.createPorts.push(...found.create)
  for (const port of found.update) turn.updatePorts.push({ ...port, updated_at: turn.now })
  end(turn, { inventory: found.inventory, plugin_data: found.pluginData })
}

function end(turn: Turn, memo: JsonObject): void {
  const off = turn.policy.inspectionPowerOff && !fastTrackEnabled(turn.node, turn.policy)
  turn.run([off ? { kind: 'power', target: 'power off' } : { kind: 'proceed' }], 'inspection.ended', memo)
}

interface Ended {
  error?: string
  inventory?: JsonObject
  plugin_data?: JsonObject
}

export function inspectionEnded(turn: Turn, outcome: Outcome, memo: Ended): void {
  wipeAgent(turn)
  if (memo.error !== undefined) {
    turn.node.last_error = `Async execution of continue_inspection failed with error: ${memo.error}`
    turn.process('fail')
    return turn.rest()
  }
  if (!outcome.ok) return inspectionFailed(turn, `Failed to finish inspection: ${outcome.error}`)
  turn.inventory = { inventory: memo.inventory ?? {}, plugin_data: memo.plugin_data ?? {} }
  turn.process('done')
  turn.rest()
}

export function inspectionFailed(turn: Turn, error: string): void {
  turn.fail(error, EVENT_TYPE)
  turn.dropInfo('inspector_manage_boot', 'lookup_bmc_addresses')
  turn.process('fail')
  turn.rest()
}

/** `abort` in `inspect wait`: switches off first, as Ironic does within the call. */
export function abortInspection(turn: Turn): void {
  turn.run([{ kind: 'power', target: 'power off' }], 'inspection.aborted')
}

export function inspectionAborted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    turn.warn(`node ${turn.uuid} could not be switched off after its inspection was aborted: ${outcome.error}`)
  turn.fail('Inspection was aborted by request.', EVENT_TYPE)
  turn.dropInfo('inspector_manage_boot', 'lookup_bmc_addresses')
  wipeAgent(turn)
  turn.process('abort')
  turn.rest()
}
