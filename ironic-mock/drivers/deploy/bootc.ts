import { type NodeRecord, type RequestedStep } from '../../../base/wire/index.js'
import { pullAccount } from '../../conductor/containers/pull-account.js'
import { agentProblem, pythonText } from './agent-checks.js'
import { BOOT_INSTANCE_STEPS, bootPreparationFailed, DEPLOY_STEP, type DeployInterface } from './deploy-interface.js'

/** The agent installs a bootable container. */
export const BOOTC: DeployInterface = {
  name: 'bootc',
  preference: 4,
  supportedBy: 'every type',
  runs: 'agent',
  steps: [
    DEPLOY_STEP,
    { step: 'execute_bootc_install', priority: 80, action: { kind: 'agent step', request: bootcStep } },
    { step: 'prepare_instance_boot', priority: 60, action: { kind: 'boot from disk' } },
    { step: 'set_boot_to_disk', priority: 60, action: { kind: 'boot from disk' } },
    ...BOOT_INSTANCE_STEPS,
  ],
  problem: (candidate) => agentProblem(candidate) ?? containerProblem(candidate.node),
  bootDeviceFailed: bootPreparationFailed,
}

const isContainer = (source: unknown): boolean => typeof source === 'string' && source.startsWith('oci://')

function containerProblem({ instance_info: { image_source: source } }: Readonly<NodeRecord>): string | undefined {
  return isContainer(source) ? undefined : `Invalid image href ${pythonText(source)}.`
}

/** The configdrive is added when the step is sent. */
function bootcStep(node: Readonly<NodeRecord>): RequestedStep {
  const { image_source } = node.instance_info
  // The password alone, also for a registry that asks for a name.
  const secret = pullAccount(node)?.password
  return {
    interface: 'deploy',
    step: 'execute_bootc_install',
    args: {
      image_source,
      configdrive: null,
      oci_pull_secret: secret ? Buffer.from(secret).toString('base64') : null,
    },
  }
}
