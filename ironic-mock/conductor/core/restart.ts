import type { Job } from './effects.js'
import { STUCK_STATES } from './transitions.js'
import type { NodeTask } from './node-task.js'
import { wipeCleaningPlan, wipeDeploymentPlan, wipeServicing } from '../flows/teardown/wipe.js'

/**
 * Reacts to the start of a conductor for a node that it or a dead one had reserved, as ironic 39.0.0
 * conductor/base_manager.py init_host and conductor/manager.py _check_orphan_nodes do: flows that cannot be resumed fail,
 * waiting states keep waiting. Other jobs (the end of an abort) run again.
 *
 * @param goesOn the conductor before had stopped the node's work in order, so that it goes on
 */
export function recover(task: NodeTask, job: Job | null, goesOn: boolean): void {
  const { node } = task
  const { provision_state: state } = node
  const isTakenOver = node.reservation !== null && node.reservation !== task.situation.host
  task.dropJobs()
  if (goesOn && job) return task.runAgain(job)
  if (STUCK_STATES.includes(state)) {
    node.target_power_state = null
    if (isTakenOver && TAKE_OVER_STATES.includes(state))
      task.fail('Operation was aborted due to conductor take over', state === 'cleaning' ? state : 'takeover')
    else
      task.fail(`The ${state} state can't be resumed by conductor ${task.situation.host}. Moving to fail state.`, state)
    if (isTakenOver && state === 'cleaning') keepForOperator(task)
    task.process('fail')
    // The next attempt starts from the first step.
    if (state === 'deploying') wipeDeploymentPlan(task)
    if (state === 'cleaning') wipeCleaningPlan(task)
    if (state === 'servicing') wipeServicing(task)
    return task.release()
  }
  if (job && job.then.after !== 'power-change') return task.runAgain(job)
  if (node.target_power_state !== null) {
    node.target_power_state = null
    if (isTakenOver) task.fail('Pending power operation was aborted due to conductor take over', 'takeover')
    else node.last_error = 'Pending power operation was aborted due to conductor restart'
  }
  task.release()
}

/** States that ironic 39.0.0 fails at a take-over; the other transitional ones fail here in the words of a restart. */
const TAKE_OVER_STATES: readonly string[] = ['deploying', 'cleaning']

/** A step may have begun, so that the state of the disks is unknown (conductor/utils.py cleaning_error_handler). */
function keepForOperator({ node }: NodeTask): void {
  if (node.clean_step.step === undefined) return
  node.fault = 'clean failure'
  node.maintenance = true
  node.maintenance_reason ??= node.last_error
}
