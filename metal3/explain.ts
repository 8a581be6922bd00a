import type { FindImage } from '../ironic-mock/index.js'
import { UserError, defined } from '../base/runtime/index.js'
import {
  defineStep,
  managersWith,
  standardManagers,
  type HardwareManager,
  type Step,
  type StepContext,
} from '../steps/index.js'
import type { IronicRelease } from '../base/wire/index.js'
import { createStagedLab, type StagedLab } from '../lab/index.js'
import { Unexpected } from './metal3-calls.js'
import { ExplainedCalls, type ExplainedCall } from './explained-calls.js'
import type { HostState } from './host-state.js'
import { cleanSteps, type RequestedHost, type HostStatus, type RamdiskSource } from './host-data-model.js'
import { BareMetalOperator } from './operator.js'
import type { WantedHost } from './wanted-hosts.js'

export interface ExplainedState {
  state: HostState
  why: string
  calls: ExplainedCall[]
  /** Error that the host shows when Ironic refuses a call or the node fails. */
  error: string | null
}

export interface HostExplanation {
  /** `NAMESPACE/NAME`. */
  name: string
  file: string
  /** Counted from 1. */
  document: number
  bmcAddress: string | null
  notes: string[]
  states: ExplainedState[]
  /** True when the host reached the end of all its states. */
  ok: boolean
}

export interface ExplainOptions {
  release?: IronicRelease
  ramdisk?: RamdiskSource
}

interface HostPhase {
  state: HostState
  why: string
  act: (operator: BareMetalOperator, host: RequestedHost) => Promise<HostStatus | void>
}

/**
 * Rehearses the states of a host against a mock Ironic and a simulated machine, and lists the requests that BareMetal
 * Operator makes. The agent's steps do nothing, since their outcome depends on the real hardware.
 */
export async function explainHost(wanted: WantedHost, options: ExplainOptions = {}): Promise<HostExplanation> {
  const { name, file, document, bmcAddress, host } = wanted
  const states: ExplainedState[] = []
  const explanation = (ok: boolean, ...more: string[]): HostExplanation => ({
    name,
    file,
    document,
    bmcAddress,
    notes: [...wanted.notes, ...more],
    states,
    ok,
  })
  if (!host) return explanation(true, 'without spec.bmc it is unmanaged: no call until its BMC is known')

  const ironic = { profile: 'metal3', ...defined({ release: options.release }) } as const
  await using lab = await createStagedLab({
    ironic,
    managers: idleManagers(host),
    findImage: assumedImage,
    disks: 'described',
  })
  const calls = new ExplainedCalls(wanted.labels)
  const operator: BareMetalOperator = new BareMetalOperator(lab, {
    ...defined({ ramdisk: options.ramdisk }),
    onCall: (call) => {
      calls.add(call, operator.statusOf(host).id)
      // BareMetal Operator repeats such a deployment for ever without an error on the host, so the second one ends it.
      if (calls.deployments > 1) operator.halt()
    },
  })
  for (const phase of phasesOf(wanted, host)) {
    const { state, why } = phase
    const explained: ExplainedState = { state, why, calls: calls.begin(), error: null }
    states.push(explained)
    const error = await runPhase(phase, operator, host, lab)
    if (error === undefined) continue
    const { id } = operator.statusOf(host)
    explained.error = calls.sentence(error, id)
    if (state !== 'preparing' || id === undefined) return explanation(false, ...notesOf(wanted, host, options))
    explained.error += ' (the simulated one; what follows is of hardware that can do it)'
    await lab.wait(recoverPreparation(lab, id))
  }
  return explanation(true, ...notesOf(wanted, host, options))
}

const wantsInstance = ({ isOnline, isExternal }: WantedHost, { image, customDeploy }: RequestedHost): boolean =>
  isOnline && !isExternal && (image !== undefined || customDeploy !== undefined)

function notesOf(wanted: WantedHost, host: RequestedHost, { ramdisk }: ExplainOptions): string[] {
  const { isOnline, isExternal } = wanted
  const { customDeploy } = host
  const isKnown = customDeploy === undefined || stepNames().has(customDeploy.method)
  return [
    ...(ramdisk
      ? []
      : [
          'URLs of the ramdisk are made up: BareMetal Operator has them in DEPLOY_ISO_URL, or DEPLOY_KERNEL_URL and ' +
            'DEPLOY_RAMDISK_URL, which are taken from the environment here too',
        ]),
    ...(!isOnline && !isExternal && (host.image || customDeploy) ? ['online is false: it is not provisioned'] : []),
    ...(isKnown ? [] : [`the ramdisk must bring the deploy step ${customDeploy.method}: ironstage's own has none`]),
    ...(host.bootMac === undefined ? ['MAC addresses of ports are those of the simulated machine'] : []),
    ...(host.disablePowerOff ? ['power off is disabled: it is not switched off before it goes'] : []),
  ]
}

function phasesOf(wanted: WantedHost, host: RequestedHost): HostPhase[] {
  const { isOnline, isExternal, isInspected } = wanted
  const phase = (state: HostState, why: string, act: HostPhase['act']): HostPhase => ({ state, why, act })
  const power: HostPhase['act'] = (operator) => (isOnline ? operator.powerOn(host) : operator.powerOff(host))
  const isInstance = wantsInstance(wanted, host)
  const before = isExternal
    ? [
        phase('externally provisioned', 'it runs already, and only its power is managed', async (operator) =>
          unlessFailed(await operator.adopt(host), () => power(operator, host)),
        ),
      ]
    : [
        ...(isInspected
          ? [phase('inspecting', 'the ramdisk reports the hardware', (operator) => operator.inspect(host))]
          : []),
        phase(
          'preparing',
          cleanSteps(host).length > 0
            ? 'RAID, BIOS settings and firmware are set as in the spec'
            : 'there is nothing to configure',
          (operator) => operator.prepare(host),
        ),
        ...(isInstance ? [] : [phase('available', 'it waits for something to run', power)]),
      ]
  const instance = [
    phase('provisioning', 'spec.image or spec.customDeploy is there', (operator) => operator.provision(host)),
    phase('provisioned', 'it runs; its power follows spec.online', power),
    phase('deprovisioning', 'spec.image and spec.customDeploy are removed, or the host is deleted', (operator) =>
      operator.deprovision(host),
    ),
  ]
  return [
    phase('registering', 'the node is created, and Ironic checks that its BMC answers', (operator) =>
      operator.register(host),
    ),
    ...before,
    ...(isInstance ? instance : []),
    ...(host.disablePowerOff
      ? []
      : [phase('powering off before delete', 'the host is deleted', (operator) => operator.powerOff(host))]),
    phase('deleting', 'the node is deleted', (operator) => operator.delete(host)),
  ]
}

const unlessFailed = (status: HostStatus, next: () => Promise<HostStatus | void>) =>
  status.errorMessage === undefined ? next() : Promise.resolve(status)

/** Runs a phase; returns its error, undefined for a success. */
async function runPhase(
  { act }: HostPhase,
  operator: BareMetalOperator,
  host: RequestedHost,
  lab: StagedLab,
): Promise<string | undefined> {
  try {
    const status = await act(operator, host)
    if (!operator.isHalted) return status?.errorMessage
    const node = await lab.client.node(operator.statusOf(host).id!)
    return `${node.last_error}. BareMetal Operator asks for it again and again, and shows no error on the host`
  } catch (error) {
    if (error instanceof Unexpected) return `Ironic answers ${error.status}: ${error.sentence}`
    if (error instanceof UserError) return error.message
    throw error
  }
}

const standardSteps = (): Step[] => standardManagers.flatMap(({ steps }) => steps)
const stepNames = (): ReadonlySet<string> => new Set(standardSteps().map(({ name }) => name))
const stepNamed = (wanted: string): Step => standardSteps().find(({ name }) => name === wanted)!

/** Image lookup without a request: the rehearsal takes the manifest's word. */
const assumedImage: FindImage = (url) => Promise.resolve({ url, format: null, sha256: null })

/** Steps whose result Ironic or the firmware reads afterwards. */
const SIMULATED_RESULTS: Readonly<Record<string, (context: StepContext) => unknown>> = {
  create_configuration: ({ node }) => node['target_raid_config'],
  // Stands in for an image that boots; the real one is not downloaded.
  write_image: (context) => {
    const node = { ...context.node, instance_info: {}, properties: {} }
    return stepNamed('install_coreos').run({ ...context, node }, {})
  },
}

/** Hardware managers whose steps succeed without work: the standard ones and the host's custom deploy step. */
function idleManagers({ customDeploy }: RequestedHost): HardwareManager[] {
  // Ironic asks for execute_bootc_install when the image is a container.
  const wanted = new Set([customDeploy?.method, 'execute_bootc_install'])
  const own = [...wanted]
    .filter((name): name is string => name !== undefined && !stepNames().has(name))
    .map((name) => defineStep({ name, interface: 'deploy', on: ['deploy'], run: () => Promise.resolve() }))
  return managersWith(...own).map((manager) => ({
    ...manager,
    steps: manager.steps.map((step) => ({
      ...step,
      run: async (context: StepContext) => (await SIMULATED_RESULTS[step.name]?.(context)) ?? null,
    })),
  }))
}

/** Brings a node whose cleaning failed back to `manageable` or `available`, by requests outside the explanation. */
async function recoverPreparation({ client }: StagedLab, node: string): Promise<void> {
  const { maintenance, provision_state: state } = await client.node(node)
  if (maintenance) await client.setMaintenance(node, false)
  if (state === 'clean failed') await client.provision(node, 'manage')
  await client.waitFor(node, ['manageable', 'available'])
}
