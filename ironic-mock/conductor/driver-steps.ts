import type { ArgsInfo, NodeRecord, StepInterface, StepKind } from '../../wire/index.js'

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

/** What brings a machine from the ramdisk to its own system (facts/ironic.md 6.4). */
const HANDING_OVER: readonly OutOfBandStep[] = [
  core('tear_down_agent', 40),
  core('switch_to_tenant_network', 30),
  core('boot_instance', 20),
]
const DEPLOY = core('deploy', 100)
const PREPARE_BOOT = core('prepare_instance_boot', 60)

/** What deploying is made of, around whatever the user adds, by deploy interface; as real Ironic lists them. */
const DEPLOY_STEPS: Readonly<Record<string, readonly OutOfBandStep[]>> = {
  'custom-agent': [DEPLOY, PREPARE_BOOT, ...HANDING_OVER],
  direct: [DEPLOY, core('write_image', 80), PREPARE_BOOT, ...HANDING_OVER],
  bootc: [DEPLOY, core('execute_bootc_install', 80), PREPARE_BOOT, core('set_boot_to_disk', 60), ...HANDING_OVER],
}
/** `ramdisk`, `fake` and `noop` are done with one step; `autodetect` has become another interface before any step. */
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

/** Service steps of the fake vendor interface; the second waits for somebody who never calls (recorded). */
const FAKE_SERVICE_STEPS: readonly OutOfBandStep[] = [
  {
    step: 'log_passthrough',
    priority: 0,
    abortable: false,
    argsinfo: null,
    interface: 'vendor',
    requires_ramdisk: false,
  },
  {
    step: 'trigger_servicewait',
    priority: 0,
    abortable: false,
    argsinfo: null,
    interface: 'vendor',
    requires_ramdisk: true,
  },
]

const AGENT_DEPLOY_INTERFACES = ['custom-agent', 'direct', 'autodetect', 'bootc', 'ramdisk']

/** Whether the node's deploy interface works through an agent in a ramdisk. */
export const usesAgent = (node: Pick<NodeRecord, 'deploy_interface'>): boolean =>
  AGENT_DEPLOY_INTERFACES.includes(node.deploy_interface)

export function outOfBandSteps(node: Readonly<NodeRecord>, kind: StepKind): readonly OutOfBandStep[] {
  if (kind === 'deploy') return DEPLOY_STEPS[node.deploy_interface] ?? ONE_STEP
  if (kind === 'service') return node.vendor_interface === 'fake' ? FAKE_SERVICE_STEPS : []
  return Object.entries(FAKE_CLEAN_STEPS).flatMap(([field, steps]) =>
    node[field as keyof NodeRecord] === 'fake' ? steps : [],
  )
}

export const isOutOfBand = (
  node: Readonly<NodeRecord>,
  kind: StepKind,
  step: { interface: unknown; step: unknown },
): boolean => outOfBandSteps(node, kind).some((known) => known.interface === step.interface && known.step === step.step)
