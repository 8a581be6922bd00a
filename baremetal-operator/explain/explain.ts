import type { FindImage } from '../../ironic-mock/index.js'
import { UserError, defined } from '../../base/runtime/index.js'
import {
  defineStep,
  managersWith,
  standardManagers,
  type HardwareManager,
  type Step,
  type StepContext,
} from '../../steps/index.js'
import type { IronicRelease } from '../../base/wire/index.js'
import { createStagedLab, type StagedLab } from '../../lab/index.js'
import type { BareMetalHost } from '../../base/kubernetes/index.js'
import { hostAccountOf } from '../controller/host-account.js'
import { POWER_CHECK_INTERVAL } from '../controller/host-power.js'
import { hostObject, objectsBeside } from '../controller/manifest-objects.js'
import type { WantedHost } from '../manifests/wanted-hosts.js'
import { cleanSteps, type RamdiskSource, type RequestedHost } from '../provisioner/host-data-model.js'
import { Unexpected, type MadeCall } from '../provisioner/ironic-calls.js'
import { DryRun } from './dry-run.js'
import { fittingMachine } from '../hardware/fitting-machine.js'
import type { MachineHardware } from '../../machine/index.js'
import type { HostEvent } from '../provisioner/node-requests.js'
import { ExplainedCalls, type ExplainedCall } from './explained-calls.js'
import type { HostState } from './host-state.js'

interface ExplainedState {
  state: HostState
  why: string
  calls: ExplainedCall[]
  /** Events of the host that `kubectl describe` shows, in order. */
  events: HostEvent[]
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
  /** Hardware of the host's machine; by default one that fits what the manifests say. */
  hardware?: MachineHardware
}

/**
 * Runs the controller of BareMetal Operator dry, from a new host to its deletion, against a mock Ironic and a simulated
 * machine, and lists its requests. The agent's steps do nothing, since their outcome depends on the real hardware.
 */
export async function explainHost(wanted: WantedHost, options: ExplainOptions = {}): Promise<HostExplanation> {
  const { name, file, document, bmcAddress, host } = wanted
  const explanation = (ok: boolean, states: ExplainedState[], ...more: string[]): HostExplanation => ({
    name,
    file,
    document,
    bmcAddress,
    notes: [...wanted.notes, ...more],
    states,
    ok,
  })
  if (!host && !wanted.manifests.host.spec.bmc?.credentialsName)
    return explanation(true, [], 'without spec.bmc it is unmanaged: no call until its BMC is known')
  if (!host) return explanation(false, [statesOfUnreached(wanted)])

  const machine = fittingMachine(wanted.manifests, options.hardware)
  const ironic = { profile: 'metal3', ...defined({ release: options.release }) } as const
  await using lab = await createStagedLab({
    ironic,
    managers: idleManagers(host),
    findImage: assumedImage,
    disks: 'described',
    hardwareOfNode: () => machine.hardware,
  })
  const life = new ExplainedLife(lab, wanted, host)
  const ok = await life.run(options)
  return explanation(ok, life.states, ...machine.notes, ...notesOf(wanted, host, options))
}

/** A host with an account and without the address of a BMC: it is registered as far as that goes. */
function statesOfUnreached({ name, manifests }: WantedHost): ExplainedState {
  const secrets = objectsBeside(name, manifests).filter((each) => each.kind === 'Secret')
  const account = hostAccountOf(
    hostObject(manifests.host, name),
    new Map(secrets.map((secret) => [secret.metadata.name, secret])),
  )
  const error = 'error' in account ? account.error : null
  const events = error === null ? [] : [{ reason: 'BMCCredentialError', message: error }]
  return { state: 'registering', why: STATE_REASONS.registering, calls: [], events, error }
}

/** Limit on passes over a host; its whole life takes about fifty. */
const MAX_PASSES = 2000

/** A host's life under the controller, with the requests of each state. */
class ExplainedLife {
  readonly states: ExplainedState[] = []
  readonly #lab: StagedLab
  readonly #wanted: WantedHost
  readonly #host: RequestedHost
  readonly #calls: ExplainedCalls
  /** Requests of the present pass. */
  #made: MadeCall[] = []
  #node: string | undefined
  /** True if the controller only looks at the host now and then. */
  #isIdle = false
  #isDeleted = false

  constructor(lab: StagedLab, wanted: WantedHost, host: RequestedHost) {
    this.#lab = lab
    this.#wanted = wanted
    this.#host = host
    this.#calls = new ExplainedCalls(wanted.labels)
  }

  /** @returns whether the host came to the end of its life */
  async run({ ramdisk }: ExplainOptions): Promise<boolean> {
    const run = await DryRun.open(this.#lab, this.#wanted, { ramdisk, onCall: (call) => this.#made.push(call) })
    for (let passes = 0; passes < MAX_PASSES; passes++) {
      const host = await run.host()
      if (!host) return true
      if (this.#isSettled(host)) {
        this.#isDeleted = true
        await run.delete()
      }
      const explained = this.#enter(host)
      const failure = await failureOf(run.pass().then((pause) => void (this.#isIdle = pause >= POWER_CHECK_INTERVAL)))
      await this.#explainCalls(host.metadata.uid)
      for (const { reason, message } of await run.events())
        explained.events.push({ reason, message: this.#calls.sentence(message, this.#node) })
      const error = failure ?? (await this.#errorOf(await run.host()))
      if (error === undefined) continue
      explained.error = this.#calls.sentence(error, this.#node)
      if (explained.state !== 'preparing' || failure !== undefined) return false
      explained.error += ' (the simulated one; what follows is of hardware that can do it)'
      await this.#lab.wait(recoverPreparation(this.#lab, this.#node!))
      await run.skipPreparation()
    }
    throw new Error(`${this.#wanted.name} makes no progress`)
  }

  /** The state that a host is in; its first pass belongs to the first state, and a pass without a purpose to the next. */
  #stateOf({ status }: BareMetalHost): HostState {
    const state = status?.provisioning.state ?? ''
    if (state === '' || state === 'unmanaged') return 'registering'
    if (state === 'available' && wantsInstance(this.#wanted, this.#host)) return 'provisioning'
    if (state === 'powering off before delete' && this.#host.disablePowerOff) return 'deleting'
    return state
  }

  #enter(host: BareMetalHost): ExplainedState {
    const state = this.#stateOf(host)
    const current = this.states.at(-1)
    if (current?.state === state) return current
    const entered: ExplainedState = {
      state,
      why: this.#reasonOf(state),
      calls: this.#calls.begin(),
      events: [],
      error: null,
    }
    this.states.push(entered)
    return entered
  }

  #reasonOf(state: HostState): string {
    const isConfigured = cleanSteps(this.#host).length > 0
    if (state === 'preparing' && isConfigured) return 'RAID, BIOS settings and firmware are set as in the spec'
    return STATE_REASONS[state]
  }

  /** True if a host has reached its final state, and is on or off as the spec wants. */
  #isSettled({ status, spec }: BareMetalHost): boolean {
    const isSteady = ['available', 'provisioned', 'externally provisioned'].includes(status?.provisioning.state ?? '')
    return isSteady && this.#isIdle && !this.#isDeleted && status?.poweredOn === spec.online
  }

  async #explainCalls(uid: string): Promise<void> {
    this.#node ??= (await this.#lab.client.nodes())[0]?.uuid
    for (const call of this.#made.splice(0)) this.#calls.add(call, this.#node, uid)
  }

  /** The error that a host shows. BareMetal Operator repeats a deployment for ever without one, so the second one is one. */
  async #errorOf(host: BareMetalHost | undefined): Promise<string | undefined> {
    const shown = host?.status?.errorMessage
    if (shown) return shown
    if (this.#calls.deployments <= 1) return undefined
    const node = await this.#lab.client.node(this.#node!)
    return `${node.last_error}. BareMetal Operator repeats the request forever and shows no error on the host`
  }
}

const STATE_REASONS: Readonly<Record<HostState, string>> = {
  registering: 'the node is created, and Ironic checks that its BMC answers',
  inspecting: 'the ramdisk reports the hardware',
  preparing: 'there is nothing to configure',
  available: 'it waits for something to run',
  'externally provisioned': 'it runs already, and only its power is managed',
  provisioning: 'spec.image or spec.customDeploy is set',
  provisioned: 'it runs; its power follows spec.online',
  deprovisioning: 'spec.image and spec.customDeploy are removed, or the host is deleted',
  'powering off before delete': 'the host is deleted',
  deleting: 'the node is deleted',
}

/** The failure of a pass in a sentence; undefined if it succeeds. */
async function failureOf(pass: Promise<void>): Promise<string | undefined> {
  try {
    await pass
    return undefined
  } catch (error) {
    if (error instanceof Unexpected) return `Ironic answers ${error.status}: ${error.sentence}`
    if (error instanceof UserError) return error.message
    throw error
  }
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

const standardSteps = (): Step[] => standardManagers.flatMap(({ steps }) => steps)
const stepNames = (): ReadonlySet<string> => new Set(standardSteps().map(({ name }) => name))
const stepNamed = (wanted: string): Step => standardSteps().find(({ name }) => name === wanted)!

/** Image lookup without a request: the rehearsal takes the manifest's word. */
const assumedImage: FindImage = (url) => Promise.resolve({ url, format: null, sha256: null })

/** Fails without a disk that the hints fit, as `install_coreos` does before it installs anything. */
const findRootDevice = defineStep({
  name: 'install_coreos',
  interface: 'deploy',
  on: ['deploy'],
  run: async ({ hardware }) => {
    await hardware.rootDevice()
  },
})

/** Steps whose result Ironic or the firmware reads afterwards. */
const SIMULATED_RESULTS: Readonly<Record<string, (context: StepContext) => unknown>> = {
  create_configuration: ({ node }) => node['target_raid_config'],
  install_coreos: (context) => findRootDevice.run(context, {}),
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
