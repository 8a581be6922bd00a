import { IronicError, formatClientValue, type JsonObject } from '../../../../base/wire/index.js'
import { readsFirmware, readsModes } from '../../../drivers/management.js'
import { inspectProblem, powerProblem, describeUnsupported } from '../../../drivers/requirements.js'
import { bmcAddresses } from '../../records/bmc-addresses.js'
import type { FlowMemos, InspectionData } from '../../core/continuation.js'
import type { Continuations } from '../../core/continuations.js'
import { valueOf, type EffectBody, type EffectOutcome } from '../../core/effects.js'
import { fastTrackEnabled } from '../../agents/fast-track.js'
import { hardwareReportEffects } from '../../hardware/hardware-report.js'
import { hookData, storeInventory, ruleProblem } from '../../inspection/inspection-data.js'
import { reportedInventory } from '../../inspection/inspection-report.js'
import { bootInspectionRamdisk, endRamdisk } from '../../agents/boot-ramdisk.js'
import type { ApiCall } from '../../inspection/rule-actions.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeAgent, wipeAgentAccess } from '../teardown/wipe.js'

/** Event type in the node history. */
const INSPECTION_EVENT_TYPE = 'introspection'
const MARKS = ['inspector_manage_boot', 'lookup_bmc_addresses']

/**
 * `inspect`.
 *
 * @throws IronicError 400 when the node's interfaces cannot inspect
 */
export function startInspection(task: NodeTask): void {
  const { node } = task
  const problem = powerProblem(node) ?? inspectProblem(node, task.conf.inspection)
  if (problem !== undefined) throw new IronicError(400, problem)
  task.begin('inspect')
  // An inspection never uses a running agent, not even in fast track.
  wipeAgentAccess(task)
  switch (node.inspect_interface) {
    case 'fake':
      return task.run([{ kind: 'proceed' }], { flow: 'inspection', after: 'no-inspection' })
    case 'agent':
      return startInBand(task)
    default:
      return task.run([{ kind: 'bmc-system' }], { flow: 'inspection', after: 'bmc-system' })
  }
}

function startInBand(task: NodeTask): void {
  const { node, conf } = task
  wipeAgent(task)
  // With unmanaged boot the environment decides what the machine boots from the network.
  task.setInfo({ inspector_manage_boot: false })
  const addresses = bmcAddresses(node.driver_info)
  if (addresses.length > 0) task.setInfo({ lookup_bmc_addresses: addresses })
  if (conf.inspection.preCreatePorts && readsModes(node))
    task.run([{ kind: 'bmc-system' }], { flow: 'inspection', after: 'bmc-nics' })
  else bootInBand(task)
}

/** Creates ports for the BMC's NICs before the ramdisk boots; a BMC without this report is no error. */
function afterBmcNics(task: NodeTask, outcome: EffectOutcome): void {
  const nics = outcome.ok ? (valueOf(outcome, 'bmc-system')?.report.nics ?? []) : []
  const taken = outcome.ok ? (valueOf(outcome, 'bmc-system')?.taken ?? []) : []
  for (const mac of new Set(nics.map((nic) => nic.mac)))
    if (!taken.includes(mac)) task.createPorts.push({ address: mac, pxe_enabled: true })
  bootInBand(task)
}

function bootInBand(task: NodeTask): void {
  task.run(bootInspectionRamdisk(task), { flow: 'inspection', after: 'ramdisk-boot' })
}

function afterNoInspection(task: NodeTask): void {
  task.process('done')
  task.release()
}

function afterRamdiskBoot(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return startFailed(task, outcome.error)
  task.process('wait')
  task.release()
}

/** Fails an inspection whose ramdisk did not start, after the machine is switched off again. */
function startFailed(task: NodeTask, problem: string): void {
  const error = `Failed to inspect hardware. Reason: unable to start inspection: ${problem}`
  task.record('ERROR', error, INSPECTION_EVENT_TYPE)
  task.run(afterRamdisk(task), { flow: 'inspection', after: 'start-clean-up' }, { error })
}

function afterStartCleanUp(task: NodeTask, outcome: EffectOutcome, { error }: { error: string }): void {
  const last = outcome.ok
    ? `Async execution of inspect_hardware failed with error: ${error}`
    : `Inspection clean up failed: unable to power off the node: ${outcome.error}`
  inspectionFailed(task, last)
}

/** Accepts the agent's inventory; hooks and rules run after the answer. */
export function receiveInventory(task: NodeTask, data: JsonObject, token: string | null): void {
  task.process('resume')
  task.setInfo({ agent_last_heartbeat: task.now })
  if (token !== null && task.info.agent_secret_token === undefined) task.setInfo({ agent_secret_token: token })
  // Logs can be huge and are not stored.
  const { logs: _, inventory, ...pluginData } = data
  const found = (inventory ?? {}) as JsonObject & { interfaces?: { mac_address?: unknown }[] }
  const addresses = (found.interfaces ?? []).map(({ mac_address }) =>
    formatClientValue(mac_address).toLowerCase().replaceAll('-', ':'),
  )
  task.run(
    [{ kind: 'inspection-facts', addresses }],
    { flow: 'inspection', after: 'inspection-facts' },
    { inventory: found, pluginData },
  )
}

function afterInspectionFacts(task: NodeTask, outcome: EffectOutcome, memo: InspectionData): void {
  // The fields of the wait are removed also when the data is refused.
  task.dropInfo(...MARKS)
  if (!outcome.ok) return inspectionFailed(task, `Failed to finish inspection: ${outcome.error}`)
  const facts = valueOf(outcome, 'inspection-facts')
  const hooks = hookData(task, facts, memo, task.conf.inspection.hooks)
  if (hooks.problem === undefined) return end(task, hooks.found)
  const reason = `failed to run inspection hooks: ${hooks.problem}`
  task.node.last_error = reason
  end(task, { ...hooks.found, error: `Failed to inspect hardware. Reason: ${reason}` })
}

/** True when the machine is powered off after inspection. */
const goesOff = ({ node, conf }: NodeTask): boolean => conf.inspectionPowerOff && !fastTrackEnabled(node, conf)

/** Effects after the ramdisk has done its work. */
const afterRamdisk = (task: NodeTask): [EffectBody, ...EffectBody[]] =>
  goesOff(task) ? endRamdisk(task) : [{ kind: 'proceed' }]

type RamdiskEndMemo = FlowMemos['inspection']['ramdisk-end']

function end(task: NodeTask, memo: RamdiskEndMemo): void {
  task.run(
    [...afterRamdisk(task), { kind: 'inspection-facts', addresses: [] }],
    { flow: 'inspection', after: 'ramdisk-end' },
    { ...memo },
  )
}

function afterRamdiskEnd(task: NodeTask, outcome: EffectOutcome, memo: RamdiskEndMemo): void {
  if (!outcome.ok && outcome.kind === 'power')
    return inspectionFailed(task, `Inspection clean up failed: unable to power off the node: ${outcome.error}`)
  if (!outcome.ok) return inspectionFailed(task, `Failed to finish inspection: ${outcome.error}`)
  if (memo.error !== undefined) return unfinished(task, memo.error)
  const { problem, calls } = ruleProblem(task, valueOf(outcome, 'inspection-facts').rules, memo)
  if (problem !== undefined) return unfinished(task, problem)
  const { inventory, pluginData } = memo
  // Some BMCs know their NICs' firmware only once the machine has been on.
  finishInspection(
    task,
    { inventory, pluginData },
    calls,
    readsFirmware(task.node) ? hardwareReportEffects(task.node) : [],
  )
}

/** Ends the inspection after the GETs of rules and a last hardware report. */
function finishInspection(
  task: NodeTask,
  found: InspectionData,
  calls: readonly ApiCall[],
  look: readonly EffectBody[] = [],
): void {
  storeInventory(task, found)
  const [first, ...rest] = [...calls.map((of): EffectBody => ({ kind: 'api-call', ...of })), ...look]
  if (first) return task.run([first, ...rest], { flow: 'inspection', after: 'api-calls' })
  task.process('done')
  task.release()
}

function afterApiCalls(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return unfinished(task, `Inspection rule action execution failed. Reason: ${outcome.error}`)
  task.process('done')
  task.release()
}

/**
 * Upstream's history and `last_error` differ here: the power off clears the error, and the failed worker writes its own
 * (recorded).
 */
function unfinished(task: NodeTask, error: string): void {
  const sentence = `Failed to finish inspection: ${error}`
  task.fail(sentence, INSPECTION_EVENT_TYPE)
  if (goesOff(task)) task.node.last_error = `Async execution of continue_inspection failed with error: ${error}`
  wipeAgentAccess(task)
  task.process('fail')
  task.release()
}

/** Continues an out-of-band inspection with the BMC's report; it needs no ramdisk and no power change. */
function afterBmcSystem(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return inspectionFailed(task, outcome.error)
  const system = valueOf(outcome, 'bmc-system')
  if (system === null) return inspectionFailed(task, `the BMC of node ${task.uuid} reports no system`)
  const { inventory, properties } = reportedInventory(task.node, system.report)
  const hooks = hookData(task, system, { inventory, pluginData: {} }, task.conf.inspection.redfishHooks)
  if (hooks.problem !== undefined) return inspectionFailed(task, hooks.problem)
  const { problem, calls } = ruleProblem(task, system.rules, hooks.found)
  if (problem !== undefined) return inspectionFailed(task, problem)
  task.node.properties = { ...task.node.properties, ...properties }
  finishInspection(task, hooks.found, calls)
}

function inspectionFailed(task: NodeTask, error: string): void {
  task.fail(error, INSPECTION_EVENT_TYPE)
  task.dropInfo(...MARKS)
  wipeAgentAccess(task)
  task.process('fail')
  task.release()
}

/** Fails the inspection after the timeout: the state changes at once, the power off follows. */
export function timeOutInspection(task: NodeTask, error: string): void {
  inspectionFailed(task, error)
  if (goesOff(task)) task.run(endRamdisk(task), { flow: 'inspection', after: 'timeout-power-off' })
}

function afterTimeoutPowerOff(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok)
    task.warn(`node ${task.uuid} could not be switched off after its inspection timed out: ${outcome.error}`)
  task.release()
}

/**
 * `abort` in `inspect wait`: powers the machine off first, as Ironic does within the call.
 *
 * @throws IronicError 400 when the inspect interface was changed meanwhile to one that never waits
 */
export function abortInspection(task: NodeTask): void {
  if (task.node.inspect_interface !== 'agent') throw new IronicError(400, describeUnsupported(task.node, 'abort'))
  task.run(afterRamdisk(task), { flow: 'inspection', after: 'abort-power-off' })
}

function afterAbortPowerOff(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok)
    task.warn(`node ${task.uuid} could not be switched off after its inspection was aborted: ${outcome.error}`)
  task.fail('Inspection was aborted by request.', INSPECTION_EVENT_TYPE)
  task.dropInfo(...MARKS)
  wipeAgentAccess(task)
  task.process('abort')
  task.release()
}

export const inspectionContinuations: Continuations<'inspection'> = {
  'abort-power-off': afterAbortPowerOff,
  'api-calls': afterApiCalls,
  'bmc-nics': afterBmcNics,
  'bmc-system': afterBmcSystem,
  'inspection-facts': afterInspectionFacts,
  'no-inspection': afterNoInspection,
  'ramdisk-boot': afterRamdiskBoot,
  'ramdisk-end': afterRamdiskEnd,
  'start-clean-up': afterStartCleanUp,
  'timeout-power-off': afterTimeoutPowerOff,
}
