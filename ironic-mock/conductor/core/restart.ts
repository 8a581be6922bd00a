import type { Job } from './effects.js'
import { STUCK_STATES } from './transitions.js'
import type { NodeTask } from './node-task.js'
import { wipeCleaningPlan, wipeDeploymentPlan, wipeServicing } from '../flows/teardown/wipe.js'

/**
 * What a starting conductor does with a node it was responsible for, as Ironic's does: work that
 * cannot be resumed has failed, an agent that is waited for is still waited for. What is left of other work (the tail
 * of an abort) is done again.
 */
export function recover(task: NodeTask, job: Job | null): void {
  const { node } = task
  const { provision_state: state } = node
  task.dropJobs()
  if (STUCK_STATES.includes(state)) {
    node.target_power_state = null
    task.fail(`The ${state} state can't be resumed by conductor ${task.situation.host}. Moving to fail state.`, state)
    task.process('fail')
    // Where the work stood is of no use to the next attempt, which begins anew.
    if (state === 'deploying') wipeDeploymentPlan(task)
    if (state === 'cleaning') wipeCleaningPlan(task)
    if (state === 'servicing') wipeServicing(task)
    return task.rest()
  }
  if (job && job.then.after !== 'power-change') return task.runAgain(job)
  if (node.target_power_state !== null) {
    node.target_power_state = null
    node.last_error = 'Pending power operation was aborted due to conductor restart'
  }
  task.rest()
}
