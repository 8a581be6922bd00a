import { IronicError } from '../../../../base/wire/index.js'
import { deployInterface } from '../../../drivers/deploy/deploy-interfaces.js'
import { powerProblem } from '../../../drivers/requirements.js'
import { switchDeployInterface } from '../verify/autodetect-interface.js'
import { cleanUpInstance } from '../../agents/boot-preparation.js'
import { automatedCleaning } from '../clean/cleaning.js'
import { wantedCleaning } from '../clean/cleaning-runbook.js'
import type { Continuations } from '../../core/continuations.js'
import type { EffectBody, EffectOutcome } from '../../core/effects.js'
import type { NodeTask } from '../../core/node-task.js'
import { wipeDeployment } from './wipe.js'

/**
 * `deleted`: removes the instance, then cleans the node.
 *
 * @throws IronicError 400 when the node's power cannot be controlled
 */
export function startTeardown(task: NodeTask): void {
  const { node } = task
  const problem = powerProblem(node)
  if (problem !== undefined)
    throw new IronicError(400, `Failed to validate power driver interface. Can not delete instance. Error: ${problem}`)
  task.begin('delete')
  task.dropInfo('agent_url')
  switchDeployInterface(task)
  task.run(takeDown(task), { flow: 'teardown', after: 'power-off' })
}

/** Ends the instance, and undoes what its boot needed; a reboot comes after that (ironic agent_base.py clean_up). */
function takeDown(task: NodeTask): [EffectBody, ...EffectBody[]] {
  const { runs } = deployInterface(task.node)
  if (runs === 'nothing') return [{ kind: 'proceed' }]
  const cleanUp = cleanUpInstance(task)
  // A live image that came over the network is not booted again.
  const isForgotten = runs === 'live image' && !cleanUp.some(({ kind }) => kind === 'boot')
  if (isForgotten) cleanUp.unshift({ kind: 'boot', source: { kind: 'disk' } })
  if (!task.node.disable_power_off) return [{ kind: 'power', target: 'power off' }, ...cleanUp]
  const reboot: EffectBody = { kind: 'power', target: 'rebooting' }
  const [first = reboot, ...rest] = [...cleanUp, reboot]
  return [first, ...rest]
}

function afterPowerOff(task: NodeTask, outcome: EffectOutcome): void {
  // The instance is removed also when the power off failed.
  forgetInstance(task)
  if (!outcome.ok) {
    task.fail(`Failed to tear down: ${outcome.error}`, 'deleting')
    task.process('fail')
    return task.release()
  }
  const wanted = wantedCleaning(task)
  if (wanted.problem !== undefined) {
    // Upstream's worker raises here, and the node stays in deleting for ever.
    task.fail(wanted.problem, 'cleaning')
    task.process('fail')
    return task.release()
  }
  task.process('clean')
  automatedCleaning(task, wanted)
}

function forgetInstance(task: NodeTask): void {
  const { node } = task
  node.instance_info = {}
  node.instance_uuid = null
  node.instance_name = null
  // The step of a node that waited for its agent stays: a deploy step until the next deployment (recorded), a service step
  // until the next servicing (ironic 39.0.0 conductor/manager.py _do_node_tear_down).
  const { deploy_step } = node
  wipeDeployment(task)
  node.deploy_step = deploy_step
  task.dropInfo('instance', 'root_uuid_or_disk_id', 'is_whole_disk_image', 'is_source_a_path', 'deploy_boot_mode')
}

/**
 * `abort` in `deploy hold`: tears the instance down, also where the step is not abortable. Its cleaning cannot begin, since the node has
 * moved to `deploy failed` already: Ironic says so, and leaves it there (ironic 39.0.0 conductor/manager.py _do_abort).
 */
export function abortHeldDeployment(task: NodeTask): void {
  task.begin('abort')
  task.dropInfo('agent_url')
  switchDeployInterface(task)
  task.run(takeDown(task), { flow: 'teardown', after: 'held-power-off' })
}

function afterHeldPowerOff(task: NodeTask, outcome: EffectOutcome): void {
  forgetInstance(task)
  if (outcome.ok) task.node.last_error = NO_CLEANING
  else task.fail(`Failed to tear down: ${outcome.error}`, 'deleting')
  task.release()
}

const NO_CLEANING =
  "Async execution of _do_node_tear_down failed with error: Can not transition from state 'deploy failed' on event 'clean' (no defined transition)"

export const teardownContinuations: Continuations<'teardown'> = {
  'held-power-off': afterHeldPowerOff,
  'power-off': afterPowerOff,
}
