import { IronicError, textOf, type JsonObject } from '../../../../wire/index.js'
import { readsFirmware } from '../../../drivers/management.js'
import { inspectProblem, powerProblem, unsupported } from '../../../drivers/requirements.js'
import { bmcAddresses } from '../../records/bmc-addresses.js'
import { valueOf, type EffectBody, type Outcome } from '../../core/effects.js'
import { fastTrackEnabled } from '../../agents/fast-track.js'
import { lookAtHardware } from '../../power/hardware-report.js'
import { hookData, keepFound, ruleProblem } from '../../inspection/inspection-data.js'
import { reportedInventory } from '../../inspection/inspection-report.js'
import { startInspectionRamdisk } from '../../agents/ramdisk.js'
import type { ApiCall } from '../../inspection/rule-actions.js'
import type { Turn } from '../../core/turn.js'
import { wipeAgent, wipeAgentAccess } from '../teardown/wipe.js'

/** The history's word for it. */
const EVENT_TYPE = 'introspection'
const MARKS = ['inspector_manage_boot', 'lookup_bmc_addresses']

/**
 * `inspect`.
 *
 * @throws IronicError 400 when the node's interfaces cannot
 */
export function startInspection(turn: Turn): void {
  const { node } = turn
  const problem = powerProblem(node) ?? inspectProblem(node, turn.policy.inspection)
  if (problem !== undefined) throw new IronicError(400, problem)
  turn.begin('inspect')
  // No inspection goes on with an agent that is there already, not even in fast track.
  wipeAgentAccess(turn)
  switch (node.inspect_interface) {
    case 'fake':
      return turn.run([{ kind: 'proceed' }], 'inspection.fake')
    case 'agent':
      return startInBand(turn)
    default:
      return turn.run([{ kind: 'bmc-system' }], 'inspection.reported')
  }
}

function startInBand(turn: Turn): void {
  const { node, policy } = turn
  wipeAgent(turn)
  // Ironic leaves it to the environment what the machine boots from the network (Ironic's source).
  turn.setInfo({ inspector_manage_boot: false })
  const addresses = bmcAddresses(node.driver_info)
  if (addresses.length > 0) turn.setInfo({ lookup_bmc_addresses: addresses })
  const redfish = node.management_interface === 'redfish' || node.management_interface === 'idrac-redfish'
  if (policy.inspection.preCreatePorts && redfish) turn.run([{ kind: 'bmc-system' }], 'inspection.nics')
  else bootInBand(turn)
}

/** The BMC knows the NICs before any ramdisk does; one that does not tell is no reason to stop. */
export function inspectionNics(turn: Turn, outcome: Outcome): void {
  const nics = outcome.ok ? (valueOf(outcome, 'bmc-system')?.report.nics ?? []) : []
  const taken = outcome.ok ? (valueOf(outcome, 'bmc-system')?.taken ?? []) : []
  for (const mac of new Set(nics.map((nic) => nic.mac)))
    if (!taken.includes(mac)) turn.createPorts.push({ address: mac, pxe_enabled: true })
  bootInBand(turn)
}

function bootInBand(turn: Turn): void {
  const start = startInspectionRamdisk(turn)
  turn.run(
    turn.node.disable_power_off ? [{ ...start, target: 'rebooting' }] : [{ kind: 'power', target: 'power off' }, start],
    'inspection.booted',
  )
}

export function inspectionFake(turn: Turn): void {
  turn.process('done')
  turn.rest()
}

export function inspectionBooted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    return inspectionFailed(turn, `Failed to inspect hardware. Reason: unable to start inspection: ${outcome.error}`)
  turn.process('wait')
  turn.rest()
}

/** The agent has posted what it found. It is answered now; the work on it follows. */
export function receiveInventory(turn: Turn, data: JsonObject, token: string | null): void {
  turn.process('resume')
  turn.setInfo({ agent_last_heartbeat: turn.now })
  if (token !== null && turn.info.agent_secret_token === undefined) turn.setInfo({ agent_secret_token: token })
  // Logs can be huge and are kept apart.
  const { logs: _, inventory, ...pluginData } = data
  const interfaces = (inventory as { interfaces?: { mac_address?: unknown }[] } | undefined)?.interfaces ?? []
  const addresses = interfaces.map(({ mac_address }) => textOf(mac_address).toLowerCase().replaceAll('-', ':'))
  turn.run([{ kind: 'inspection-facts', addresses }], 'inspection.hooks', { inventory: inventory ?? {}, pluginData })
}

export interface Found {
  inventory: JsonObject
  pluginData: JsonObject
}

export function inspectionHooks(turn: Turn, outcome: Outcome, memo: Found): void {
  // What the data asked for is gone from here on, also when it is of no use.
  turn.dropInfo(...MARKS)
  if (!outcome.ok) return inspectionFailed(turn, `Failed to finish inspection: ${outcome.error}`)
  const facts = valueOf(outcome, 'inspection-facts')
  const hooks = hookData(turn, facts, memo, turn.policy.inspection.hooks)
  if (hooks.problem === undefined) return end(turn, hooks.found)
  const reason = `failed to run inspection hooks: ${hooks.problem}`
  turn.node.last_error = reason
  end(turn, { ...hooks.found, error: `Failed to inspect hardware. Reason: ${reason}` })
}

/** Whether the machine is switched off when inspection is over. */
const goesOff = ({ node, policy }: Turn): boolean => policy.inspectionPowerOff && !fastTrackEnabled(node, policy)

const off = ({ node }: Turn): EffectBody =>
  node.disable_power_off
    ? { kind: 'power', target: 'rebooting', boot: { kind: 'disk' } }
    : { kind: 'power', target: 'power off' }

interface Ended extends Found {
  error?: string
}

function end(turn: Turn, memo: Ended): void {
  const last: EffectBody = goesOff(turn) ? off(turn) : { kind: 'proceed' }
  turn.run([last, { kind: 'inspection-facts', addresses: [] }], 'inspection.ended', { ...memo })
}

export function inspectionEnded(turn: Turn, outcome: Outcome, memo: Ended): void {
  if (!outcome.ok && outcome.kind === 'power')
    return inspectionFailed(turn, `Inspection clean up failed: unable to power off the node: ${outcome.error}`)
  if (!outcome.ok) return inspectionFailed(turn, `Failed to finish inspection: ${outcome.error}`)
  if (memo.error !== undefined) return unfinished(turn, memo.error)
  const { problem, calls } = ruleProblem(turn, valueOf(outcome, 'inspection-facts').rules, memo)
  if (problem !== undefined) return unfinished(turn, problem)
  const { inventory, pluginData } = memo
  // Some BMCs know their NICs' firmware only once the machine has been on.
  finish(turn, { inventory, pluginData }, calls, readsFirmware(turn.node) ? lookAtHardware(turn.node) : [])
}

/** Whoever a rule wants to be told is told before the inspection counts as done; then comes a last look. */
function finish(turn: Turn, found: Found, calls: readonly ApiCall[], look: readonly EffectBody[] = []): void {
  keepFound(turn, found)
  const [first, ...rest] = [...calls.map((of): EffectBody => ({ kind: 'api-call', ...of })), ...look]
  if (first) return turn.run([first, ...rest], 'inspection.called')
  turn.process('done')
  turn.rest()
}

export function inspectionCalled(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return unfinished(turn, `Inspection rule action execution failed. Reason: ${outcome.error}`)
  turn.process('done')
  turn.rest()
}

/**
 * Upstream's history and `last_error` differ here: switching off forgets the error, and the worker that dies of it writes
 * its own (recorded).
 */
function unfinished(turn: Turn, error: string): void {
  const sentence = `Failed to finish inspection: ${error}`
  turn.fail(sentence, EVENT_TYPE)
  if (goesOff(turn)) turn.node.last_error = `Async execution of continue_inspection failed with error: ${error}`
  wipeAgentAccess(turn)
  turn.process('fail')
  turn.rest()
}

/** Inspection by what the BMC tells: no ramdisk, nothing is switched. */
export function inspectionReported(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return inspectionFailed(turn, outcome.error)
  const system = valueOf(outcome, 'bmc-system')
  if (system === null) return inspectionFailed(turn, `the BMC of node ${turn.uuid} does not tell about its system`)
  const { inventory, properties } = reportedInventory(turn.node, system.report)
  const hooks = hookData(turn, system, { inventory, pluginData: {} }, turn.policy.inspection.redfishHooks)
  if (hooks.problem !== undefined) return inspectionFailed(turn, hooks.problem)
  const { problem, calls } = ruleProblem(turn, system.rules, hooks.found)
  if (problem !== undefined) return inspectionFailed(turn, problem)
  turn.node.properties = { ...turn.node.properties, ...properties }
  finish(turn, hooks.found, calls)
}

export function inspectionFailed(turn: Turn, error: string): void {
  turn.fail(error, EVENT_TYPE)
  turn.dropInfo(...MARKS)
  wipeAgentAccess(turn)
  turn.process('fail')
  turn.rest()
}

/** Nobody posted anything: the state says so at once, the machine is switched off after. */
export function timeOutInspection(turn: Turn, error: string): void {
  inspectionFailed(turn, error)
  if (goesOff(turn)) turn.run([off(turn)], 'inspection.timed-out')
}

export function inspectionTimedOut(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    turn.warn(`node ${turn.uuid} could not be switched off after its inspection timed out: ${outcome.error}`)
  turn.rest()
}

/**
 * `abort` in `inspect wait`: switches off first, as Ironic does within the call.
 *
 * @throws IronicError 400 where the interface was changed meanwhile to one that never waits
 */
export function abortInspection(turn: Turn): void {
  if (turn.node.inspect_interface !== 'agent') throw new IronicError(400, unsupported(turn.node, 'abort'))
  turn.run([goesOff(turn) ? off(turn) : { kind: 'proceed' }], 'inspection.aborted')
}

export function inspectionAborted(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok)
    turn.warn(`node ${turn.uuid} could not be switched off after its inspection was aborted: ${outcome.error}`)
  turn.fail('Inspection was aborted by request.', EVENT_TYPE)
  turn.dropInfo(...MARKS)
  wipeAgentAccess(turn)
  turn.process('abort')
  turn.rest()
}
