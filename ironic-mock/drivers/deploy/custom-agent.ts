import { agentProblem } from './agent-checks.js'
import { BOOT_INSTANCE_STEPS, bootPreparationFailed, DEPLOY_STEP, type DeployInterface } from './deploy-interface.js'

/** The agent's steps do the work: Ironic boots the agent, and the disk afterwards. */
export const CUSTOM_AGENT: DeployInterface = {
  name: 'custom-agent',
  preference: 5,
  supportedBy: 'every type',
  runs: 'agent',
  steps: [
    DEPLOY_STEP,
    { step: 'prepare_instance_boot', priority: 60, action: { kind: 'boot from disk' } },
    ...BOOT_INSTANCE_STEPS,
  ],
  problem: agentProblem,
  bootDeviceFailed: bootPreparationFailed,
}
