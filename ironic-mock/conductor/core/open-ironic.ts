import { urlSafeToken, type Clock, type Logger, type Probe, type Random } from '../../../base/runtime/index.js'
import type { HttpThrough, ProxySettings } from '../../../base/bytes/index.js'
import {
  ironicErrors,
  probedDownloads,
  type JsonObject,
  type NodeRecord,
  type ResourceKind,
  type Transport,
} from '../../../base/wire/index.js'
import type { Bmcs } from '../../drivers/bmc.js'
import { imageSourceProblem } from '../../drivers/deploy-requirements.js'
import { detectBootc, type DetectBootc } from '../containers/detect-bootc.js'
import { findImages, type FindImage } from './find-images.js'
import { HARDWARE_TYPES, type HardwareType } from '../../drivers/hardware-types.js'
import { validateInterfaces } from '../../drivers/validate-interfaces.js'
import type { PlacedNode } from '../../members/shards.js'
import { WholeShare, type ConductorMember, type WorkShare } from '../../members/work-share.js'
import type { StoreView } from '../../store/open-store.js'
import type { Store } from '../../store/store.js'
import { Allocations } from '../records/allocations.js'
import { BootDevices } from '../hardware/boot-devices.js'
import { runStepOnChildNodes } from '../steps/child-node-steps.js'
import type { Conductor, DriverDescription } from './conductor.js'
import { templatesOf } from '../steps/deploy-templates.js'
import { deploymentProblem } from '../flows/deploy/deployment-steps.js'
import { checkConcurrency } from './concurrency.js'
import type { DeployImages } from '../flows/deploy/deploy-image-urls.js'
import { Dispatcher } from './dispatcher.js'
import { findInspected } from '../flows/inspect/find-inspected.js'
import { NodeHardwareCalls } from '../hardware/node-hardware-calls.js'
import { agentConfig } from '../agents/lookup.js'
import { networkCalls } from '../records/make-network-calls.js'
import { AnsweredQuestions, type DriverQuestion } from '../records/answered-questions.js'
import { checkDriverServed, checkServedOf, type CheckServed } from '../records/check-served.js'
import { Admin } from '../records/node-admin.js'
import { retryWhileLocked } from './retry-while-locked.js'
import { EffectRunner } from './effect-runner.js'
import type { ConductorConf } from './conductor-conf.js'
import { PortAdmin } from '../records/port-admin.js'
import { ResourceAdmin } from '../records/resource-admin.js'
import { isPowerTarget } from '../hardware/power.js'
import {
  RepeatedDeployments,
  repetitionText,
  type RepeatedDeployment,
  type RepeatedDeploymentsState,
} from '../flows/deploy/repeated-deployments.js'
import { shaCrypt } from '../flows/rescue/sha-crypt.js'
import { watchPower, type PowerWatchState } from '../hardware/watch-power.js'
import type { DeadlineTimersState } from './deadline-timers.js'

export interface IronicOptions {
  store: Store & StoreView
  /** This conductor's name: the value of `reservation` and of the API's `conductor`. */
  host: string
  /** The nodes whose work is done here, in a database that several processes have; default: all. */
  share?: WorkShare
  conf: ConductorConf
  /** Enabled hardware types; default: all. */
  types?: readonly HardwareType[]
  bmcs: Bmcs
  /** Proxies to the servers of images; none by default. */
  proxies?: ProxySettings
  /** Reads metadata of images; default: over the network and from this host's files. */
  findImage?: FindImage
  /** Carries commands to agents. */
  agents: Transport
  clock: Clock
  random: Random
  probe: Probe
  logger: Logger
  /** Kernel parameter `ipa-api-url` of ramdisks, without trailing slash; read at every boot. */
  ironicUrl: () => string
  /** Ramdisk images of the image service; they go before configured ones. */
  servedImages?: (node: Readonly<NodeRecord>) => DeployImages | undefined
  /** Called when a client repeats a failed deployment unchanged. */
  deploymentRepeated?: (repeated: RepeatedDeployment) => void
  /** Memory of an earlier conductor that rested when it was taken: this one goes on as that one would have. */
  from?: IronicState
}

/** Memory of a conductor besides its database, while it works on no node. */
export interface IronicState {
  readonly limits: DeadlineTimersState
  readonly power: PowerWatchState
  readonly repeated: RepeatedDeploymentsState
}

export interface Ironic extends AsyncDisposable {
  readonly conductor: Conductor
  readonly store: Store
  /** Timers of the clock that the conductor has set. */
  readonly timers: number
  /** Sentence about the node's present work; undefined when it rests. */
  busyWith(): string | undefined
  /** State for {@link IronicOptions.from}; only while Ironic rests. */
  take(): IronicState
}

/**
 * Starts a conductor on a store and recovers the work of an earlier one, as Ironic does when it starts. Disposing it stops
 * effects and time limits and leaves the database as a kill would; the store stays open.
 *
 * ```ts
 * const store = openStore({ clock })
 * await using ironic = await openIronic({ store, host: 'ironstage', conf: UPSTREAM_CONF, bmcs, agents, clock, random, probe, logger, ironicUrl })
 * const node = await ironic.conductor.createNode({ driver: 'redfish', driver_info: { redfish_address: 'http://bmc' } })
 * await ironic.conductor.provision(node.uuid, { target: 'manage' })
 * ```
 */
export async function openIronic(options: IronicOptions): Promise<Ironic> {
  const { store, clock, conf, bmcs, agents, probe, logger, proxies } = options
  const share =
    options.share ??
    new WholeShare({
      host: options.host,
      group: conf.conductorGroup,
      drivers: (options.types ?? HARDWARE_TYPES).map(({ name }) => name),
      startedAt: clock.now(),
    })
  const findImage =
    options.findImage ??
    findImages(clock, {
      through: imageExchanges(probe),
      proxies,
      allowedPaths: conf.fileUrlAllowedPaths,
      checksums: conf,
      registries: conf,
    })
  const effects: EffectRunner = new EffectRunner({
    bmcs,
    agents,
    clock,
    probe,
    conf,
    logger,
    findImage,
    records: () => store.records,
    inventory: (node) => store.inventory(node),
    runStepOnChildNodes: (parent, step, signal) =>
      runStepOnChildNodes({ dispatcher, store, conf }, parent, step, signal),
  })
  const dispatcher = new Dispatcher({ ...options, share, effects })
  const { from } = options
  try {
    if (from) dispatcher.restore(from.limits)
    else await share.begin()
  } catch (error) {
    // The caller gets no dispatcher to close, and its timers would keep the process alive.
    await dispatcher.close()
    await share.end()
    throw error
  }
  const allocations = new Allocations({ ...options, share }, dispatcher.stopped)
  allocations.recover()
  const watch = watchPower({ dispatcher, effects, store, share, clock, conf, logger }, from?.power)
  const repeated = new RepeatedDeployments(from?.repeated)
  return {
    conductor: new LocalConductor({ ...options, share }, dispatcher, effects, allocations, repeated),
    store,
    get timers() {
      return dispatcher.timers + watch.timers
    },
    busyWith: () => busyNode(store, dispatcher) ?? (watch.isLooking ? 'the power sync is under way' : undefined),
    take: () => ({ limits: dispatcher.take(), power: watch.take(), repeated: repeated.take() }),
    // Alone, it stops as a kill would; otherwise others get its nodes when no effect runs.
    [Symbol.asyncDispose]: () => (share.isWhole ? dispatcher.close() : share.end().then(() => dispatcher.close())),
  }
}

/** Shows the requests of the conductor to the servers of a node's images. */
const imageExchanges =
  (probe: Probe) =>
  (node: string): HttpThrough =>
    probedDownloads(probe, { from: 'ironic', to: 'images', node })

/** A node that the conductor works on, or one whose work would be taken up by another conductor. */
function busyNode(store: StoreView, dispatcher: Dispatcher): string | undefined {
  const { records } = store
  const working = dispatcher.busyNode ?? records.effects.keys().next().value
  if (working !== undefined) return `node ${records.nodes.get(working)?.record.name ?? working} is worked on`
  for (const { record } of records.nodes.values())
    if (record.reservation !== null || record.target_power_state !== null)
      return `node ${record.name ?? record.uuid} is reserved`
  for (const { uuid, state } of records.resources('allocation').byUuid.values())
    if (state === 'allocating') return `allocation ${uuid} is looking for a node`
  return undefined
}

/** Verbs at whose beginning `autodetect` chooses an interface. */
const CHOOSING_VERBS = new Set(['active', 'rebuild', 'deleted', 'provide', 'clean', 'adopt', 'service'])

type LocalConductorOptions = IronicOptions & { readonly share: WorkShare }

class LocalConductor implements Conductor {
  readonly #options: LocalConductorOptions
  readonly #dispatcher: Dispatcher
  readonly #bootDevices: BootDevices
  readonly #repeated: RepeatedDeployments
  readonly #detectBootc: DetectBootc
  readonly #checkServed: CheckServed
  readonly #answered = new AnsweredQuestions()

  readonly hardware: Conductor['hardware']
  readonly network: Conductor['network']
  readonly createNode: Conductor['createNode']
  readonly updateNode: Conductor['updateNode']
  readonly destroyNode: Conductor['destroyNode']
  readonly resources: Conductor['resources']
  readonly createPort: Conductor['createPort']
  readonly updatePort: Conductor['updatePort']
  readonly destroyPort: Conductor['destroyPort']
  readonly setBootDevice: Conductor['setBootDevice']
  readonly bootDevice: Conductor['bootDevice']
  readonly supportedBootDevices: Conductor['supportedBootDevices']

  constructor(
    options: LocalConductorOptions,
    dispatcher: Dispatcher,
    effects: EffectRunner,
    allocations: Allocations,
    repeated: RepeatedDeployments,
  ) {
    this.#repeated = repeated
    this.#options = options
    this.#dispatcher = dispatcher
    const admin = new Admin({ ...options, queues: dispatcher.queues })
    this.#bootDevices = new BootDevices(options, admin)
    this.#detectBootc = detectBootc({ ...options, through: imageExchanges(options.probe), signal: dispatcher.stopped })
    this.#checkServed = checkServedOf(options)
    this.hardware = new NodeHardwareCalls(
      options.store,
      dispatcher,
      effects,
      admin,
      { checkServed: this.#checkServed, answered: this.#answered },
      (attempt) => this.#retryWhileLocked(attempt),
    )
    this.network = networkCalls(options.store, this.#checkServed, (attempt) => this.#retryWhileLocked(attempt))
    this.createNode = (fields) => admin.createNode(fields)
    this.updateNode = async (uuid, change) => {
      const node = await this.#retryWhileLocked(() => admin.updateNode(uuid, change))
      // With another driver or group it may have come to this process.
      if (!options.share.isWhole) dispatcher.follow(uuid)
      return node
    }
    this.destroyNode = async (uuid) => {
      this.#checkServed(uuid, 400)
      await this.#retryWhileLocked(() => admin.destroyNode(uuid))
      this.#repeated.forget(uuid)
    }
    const ports = new PortAdmin(options, this.#checkServed)
    this.createPort = (fields) => ports.create(fields)
    this.updatePort = (uuid, change) => this.#retryWhileLocked(() => ports.update(uuid, change))
    this.destroyPort = (uuid) => this.#retryWhileLocked(() => ports.remove(uuid))
    this.resources = this.#resourceCalls(new ResourceAdmin(options, this.#checkServed), allocations)
    this.setBootDevice = async (uuid, device, persistent) => {
      this.#checkServed(uuid)
      await this.#retryWhileLocked(() => this.#bootDevices.set(uuid, device, persistent))
    }
    this.bootDevice = async (uuid) => {
      this.#checkServed(uuid)
      return this.#bootDevices.get(uuid)
    }
    this.supportedBootDevices = async (uuid) => {
      this.#checkServed(uuid)
      return this.#bootDevices.supported(uuid)
    }
  }

  #resourceCalls(records: ResourceAdmin, allocations: Allocations): Conductor['resources'] {
    const removed = (kind: ResourceKind, uuid: string): Promise<void> =>
      kind === 'allocation' ? allocations.remove(uuid) : records.remove(kind, uuid)
    return {
      create: (kind, fields) => records.create(kind, fields),
      update: (kind, uuid, change) => this.#retryWhileLocked(() => records.update(kind, uuid, change)),
      remove: (kind, uuid) => this.#retryWhileLocked(() => removed(kind, uuid)),
      removeAll: (kind) => records.removeAll(kind),
      allocate: (fields, backfill) => allocations.allocate(fields, backfill),
    }
  }

  conductors(): readonly ConductorMember[] {
    return this.#options.share.conductors()
  }

  holderOf(node: PlacedNode): string | null {
    return this.#options.share.holderOf(node)
  }

  get placement(): number {
    return this.#options.share.placement
  }

  drivers(): DriverDescription[] {
    const alive = this.conductors().filter((conductor) => conductor.alive)
    return (this.#options.types ?? HARDWARE_TYPES).map(({ name, interfaces, properties }) => ({
      name,
      hosts: alive.filter(({ drivers }) => drivers.includes(name)).map(({ host }) => host),
      type: 'dynamic',
      interfaces: structuredClone(interfaces) as DriverDescription['interfaces'],
      properties: { ...properties },
    }))
  }

  askNode(uuid: string): void {
    this.#checkServed(uuid)
  }

  askDriver(name: string, question: DriverQuestion | null): void {
    const check = (): void => checkDriverServed(this.#options.share, name)
    if (question === null) check()
    else this.#answered.ask(question, name, check)
  }

  async provision(uuid: string, request: Parameters<Conductor['provision']>[1]): Promise<void> {
    this.#checkServed(uuid)
    checkConcurrency(this.#options.store.records, request.target, this.#options.conf)
    const hashed = this.#withHashedPassword(request)
    const repeated = this.#repeated.note(this.#subject(uuid).node, request)
    const imageIsBootc = CHOOSING_VERBS.has(request.target) && (await this.#detectBootc(this.#subject(uuid).node))
    const verb = { kind: 'verb', request: hashed, imageIsBootc } as const
    await this.#retryWhileLocked(() => this.#dispatcher.dispatch(uuid, verb))
    if (!repeated) return
    this.#options.logger('warn', repetitionText(repeated), { node: uuid })
    this.#options.deploymentRepeated?.(repeated)
  }

  /** Retries while the node is locked. */
  #retryWhileLocked<T>(attempt: () => Promise<T>): Promise<T> {
    return retryWhileLocked(this.#options, this.#dispatcher.stopped, attempt)
  }

  #withHashedPassword(request: Parameters<Conductor['provision']>[1]): Parameters<Conductor['provision']>[1] {
    const { rescue_password } = request
    if (rescue_password === undefined) return request
    const salt = urlSafeToken(this.#options.random).replaceAll(/[^A-Za-z0-9]/g, '.')
    return {
      ...request,
      hashed_rescue_password: shaCrypt(
        rescue_password,
        salt.slice(0, 16),
        this.#options.conf.rescuePasswordHashAlgorithm,
      ),
    }
  }

  async changePower(uuid: string, target: string, timeout?: number): Promise<void> {
    this.#checkServed(uuid)
    const { node } = this.#subject(uuid)
    if (!isPowerTarget(target)) throw ironicErrors.invalidStateRequested(target, uuid, node.power_state ?? 'None')
    const limit = timeout === undefined ? null : timeout * 1000
    await this.#retryWhileLocked(() => this.#dispatcher.dispatch(uuid, { kind: 'power', target, timeout: limit }))
  }

  async setMaintenance(uuid: string, on: boolean, reason: string | null = null): Promise<void> {
    this.#checkServed(uuid, 400)
    await this.#retryWhileLocked(() => this.#dispatcher.dispatch(uuid, { kind: 'maintenance', on, reason }))
  }

  async validate(uuid: string): ReturnType<Conductor['validate']> {
    this.#checkServed(uuid)
    const { node, ports } = this.#subject(uuid)
    const { conf, store } = this.#options
    const imageIsBootc = await this.#detectBootc(node)
    return validateInterfaces(
      node,
      ports,
      () =>
        imageSourceProblem(node.instance_info.image_source) ??
        deploymentProblem({ node, templates: templatesOf(store.records, node), user: [], imageIsBootc }, ports, conf),
      conf.inspection,
    )
  }

  async lookup(
    uuid: string,
    { issueToken }: { issueToken: boolean },
  ): Promise<{ node: NodeRecord; config: JsonObject }> {
    this.#checkServed(uuid, 400)
    const token = issueToken ? urlSafeToken(this.#options.random) : null
    const node = await this.#dispatcher.dispatch(uuid, { kind: 'lookup', token })
    return { node: structuredClone(node), config: this.#config(node, token) }
  }

  async heartbeat(uuid: string, heartbeat: Parameters<Conductor['heartbeat']>[1]): Promise<void> {
    this.#checkServed(uuid, 400)
    await this.#dispatcher.dispatch(uuid, { kind: 'heartbeat', heartbeat })
  }

  async continueInspection(data: JsonObject, nodeUuid?: string): Promise<NodeRecord> {
    const { node } = await this.#inspected(data, nodeUuid, null)
    return node
  }

  async continueInspectionAsLookup(data: JsonObject, nodeUuid?: string): ReturnType<Conductor['lookup']> {
    const token = urlSafeToken(this.#options.random)
    const { node } = await this.#inspected(data, nodeUuid, token)
    return { node, config: this.#config(node, token) }
  }

  async #inspected(
    data: JsonObject,
    nodeUuid: string | undefined,
    token: string | null,
  ): Promise<{ node: NodeRecord }> {
    const uuid = findInspected(this.#options.store.records, data, nodeUuid)
    this.#checkServed(uuid, 400)
    const node = await this.#dispatcher.dispatch(uuid, { kind: 'inventory', data, token })
    return { node: structuredClone(node) }
  }

  /** Shows the token in clear only in the answer to the call that created it. */
  #config(node: Readonly<NodeRecord>, token: string | null): JsonObject {
    const shown = token === null ? null : node.driver_internal_info.agent_secret_token === token ? token : '******'
    return agentConfig(this.#options.conf, node.driver, shown)
  }

  #subject(uuid: string) {
    const subject = this.#dispatcher.subject(uuid)
    if (!subject) throw ironicErrors.nodeNotFound(uuid)
    return subject
  }
}
