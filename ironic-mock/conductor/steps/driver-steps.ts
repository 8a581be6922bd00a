import type { NodeRecord, StepKind } from '../../../wire/index.js'
import { interfaceSteps } from './driver-step-table.js'
import type { OutOfBandStep } from './out-of-band-step.js'

const core = (step: string, priority: number): OutOfBandStep => ({
  step,
  priority,
  abortable: true,
  argsinfo: null,
  interface: 'deploy',
})

/** Steps from the ramdisk to the instance (ironic drivers/modules/agent_base.py). */
const BOOT_INSTANCE_STEPS: readonly OutOfBandStep[] = [
  core('tear_down_agent', 40),
  core('switch_to_tenant_network', 30),
  core('boot_instance', 20),
]
const DEPLOY = core('deploy', 100)
const PREPARE_BOOT = core('prepare_instance_boot', 60)

/** Steps of each deploy interface, as real Ironic lists them. */
const DEPLOY_STEPS: Readonly<Record<string, readonly OutOfBandStep[]>> = {
  'custom-agent': [DEPLOY, PREPARE_BOOT, ...BOOT_INSTANCE_STEPS],
  direct: [DEPLOY, core('write_image', 80), PREPARE_BOOT, ...BOOT_INSTANCE_STEPS],
  bootc: [
    DEPLOY,
    core('execute_bootc_install', 80),
    PREPARE_BOOT,
    core('set_boot_to_disk', 60),
    ...BOOT_INSTANCE_STEPS,
  ],
}
/** `ramdisk`, `fake` and `noop` have one step; `autodetect` is replaced by another interface before any step. */
const ONE_STEP: readonly OutOfBandStep[] = [DEPLOY]

export type CoreDeployStep =
  | 'deploy'
  | 'write_image'
  | 'execute_bootc_install'
  | 'prepare_instance_boot'
  | 'set_boot_to_disk'
  | 'tear_down_agent'
  | 'switch_to_tenant_network'
  | 'boot_instance'

const AGENT_DEPLOY_INTERFACES = ['custom-agent', 'direct', 'autodetect', 'bootc', 'ramdisk']

/** True when the node's deploy interface uses an agent in a ramdisk. */
export const usesAgent = (node: Pick<NodeRecord, 'deploy_interface'>): boolean =>
  AGENT_DEPLOY_INTERFACES.includes(node.deploy_interface)

export function outOfBandSteps(node: Readonly<NodeRecord>, kind: StepKind): readonly OutOfBandStep[] {
  const others = interfaceSteps(node, kind)
  return kind === 'deploy' ? [...(DEPLOY_STEPS[node.deploy_interface] ?? ONE_STEP), ...others] : others
}

export const isOutOfBand = (
  node: Readonly<NodeRecord>,
  kind: StepKind,
  step: { interface: unknown; step: unknown },
): boolean => outOfBandSteps(node, kind).some((known) => known.interface === step.interface && known.step === step.step)
