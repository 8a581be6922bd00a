import type { ArgsInfo, NodeRecord, StepInterface } from '../../wire/index.js'

/** A step that the conductor itself runs, as it stands in `driver_internal_info`. */
export interface OutOfBandStep {
  step: string
  priority: number
  abortable: boolean
  argsinfo: ArgsInfo | null
  interface: StepInterface
  requires_ramdisk?: boolean
}

const core = (step: string, priority: number): OutOfBandStep => ({
  step,
  priority,
  abortable: true,
  argsinfo: null,
  interface: 'deploy',
})

/** What deploying is made of, around whatever the user adds (facts/ironic.md 6.4). */
const AGENT_DEPLOY_STEPS: readonly OutOfBandStep[] = [
  core('deploy', 100),
  core('prepare_instance_boot', 60),
  core('tear_down_agent', 40),
  core('switch_to_tenant_network', 30),
  core('boot_instance', 20),
]
const FAKE_DEPLOY_STEPS: readonly OutOfBandStep[] = [core('deploy', 100)]

export type CoreDeployStep =
  'deploy' | 'prepare_instance_boot' | 'tear_down_agent' | 'switch_to_tenant_network' | 'boot_instance'

const settings = { settings: { description: 'The settings to apply.', required: true } }
const clean = (step: OutOfBandStep): OutOfBandStep => ({ ...step, requires_ramdisk: true })

/** Clean steps of the fake interfaces (facts/ironic.md 8); what they would do to hardware is nothing. */
const FAKE_CLEAN_STEPS: Readonly<Record<string, readonly OutOfBandStep[]>> = {
  vendor_interface: [
    clean({ step: 'log_passthrough', priority: 1, abortable: false, argsinfo: null, interface: 'vendor' }),
  ],
  bios_interface: [
    clean({ step: 'apply_configuration', priority: 0, abortable: false, argsinfo: settings, interface: 'bios' }),
    clean({ step: 'factory_reset', priority: 0, abortable: false, argsinfo: null, interface: 'bios' }),
  ],
  firmware_interface: [
    clean({ step: 'update', priority: 0, abortable: false, argsinfo: settings, interface: 'firmware' }),
  ],
}

const AGENT_DEPLOY_INTERFACES = ['custom-agent', 'direct', 'autodetect', 'bootc', 'ramdisk']

/** Whether the node's deploy interface works through an agent in a ramdisk. */
export const usesAgent = (node: Pick<NodeRecord, 'deploy_interface'>): boolean =>
  AGENT_DEPLOY_INTERFACES.includes(node.deploy_interface)

export function outOfBandSteps(node: Readonly<NodeRecord>, kind: 'deploy' | 'clean'): readonly OutOfBandStep[] {
  if (kind === 'deploy') return usesAgent(node) ? AGENT_DEPLOY_STEPS : FAKE_DEPLOY_STEPS
  return Object.entries(FAKE_CLEAN_STEPS).flatMap(([field, steps]) =>
    node[field as keyof NodeRecord] === 'fake' ? steps : [],
  )
}

export const isOutOfBand = (
  node: Readonly<NodeRecord>,
  kind: 'deploy' | 'clean',
  step: { interface: unknown; step: unknown },
): boolean => outOfBandSteps(node, kind).some((known) => known.interface === step.interface && known.step === step.step)
