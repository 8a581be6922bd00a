import type { Job } from './effects.js'
import { STUCK_STATES } from './transitions.js'
import type { NodeTask } from './node-task.js'
import { wipeCleaningPlan, wipeDeploymentPlan, wipeServicing } from '../flows/teardown/wipe.js'

/**
 * Reacts to the start of a conductor for a node that it had reserved, as ironic conductor/base_manager.py init_host does:
 * flows that cannot be resumed fail, waiting states keep waiting. Other jobs (the end of an abort) run again.
 */
export function recover(task: NodeTask, job: Job | null): void {
  const { node } = task
  const { provision_state: state } = node
  task.dropJobs()
  if (STUCK_STATES.includes(state)) {
    node.target_power_state = null
    task.fail(`The ${state} state can't be resumed by conductor ${task.situation.host}. Moving to fail state.`, state)
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
    node.last_error = 'Pending power operation was aborted due to conductor restart'
  }
  task.release()
}
