import { agentProblem } from './agent-checks.js'
import { bootPreparationFailed, DEPLOY_STEP, type DeployInterface } from './deploy-interface.js'

/** Stands for another interface until a flow starts, which then chooses one. */
export const AUTODETECT: DeployInterface = {
  name: 'autodetect',
  preference: 1,
  supportedBy: 'every type',
  runs: 'agent',
  steps: [DEPLOY_STEP],
  problem: agentProblem,
  bootDeviceFailed: bootPreparationFailed,
}
