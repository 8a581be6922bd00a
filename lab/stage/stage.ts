import { PROMPT_PACE } from '../../agent/index.js'
import { createIronicApi, openIronic, type Conductor, type IronicState, type Store } from '../../ironic-mock/index.js'
import { NO_PACE, openMachines, type Machine, type Machines, type MachineSpec } from '../../machine/index.js'
import {
  defined,
  openInScope,
  Probe,
  silent,
  systemClock,
  withFields,
  withoutRepeats,
  type Clock,
  type Scope,
} from '../../base/runtime/index.js'
import {
  InProcessTransport,
  IronicClient,
  IronicRefused,
  probeTransport,
  type Dispatch,
  type NodeRecord,
  type TlsOptions,
  type Transport,
} from '../../base/wire/index.js'
import { openAccess } from './stage-access.js'
import { toAgentsOf } from './agent-addresses.js'
import { Agents, stepNames } from './agents.js'
import { bootNetwork } from './stage-boot-network.js'
import { BmcAccounts } from '../bmcs/bmc-accounts.js'
import { machineBmcs, findNodeMachine } from '../bmcs/bmcs.js'
import { bmcListeners, type BmcListeners } from '../bmcs/bmc-listeners.js'
import { ironicSettings } from './ironic-settings.js'
import { CurrentDatabase } from './stage-database.js'
import { openConnections, IN_PROCESS_URL } from './connections.js'
import { machineSpecs, specsOnDemand, type WantedMachine } from './machine-specs.js'
import type { StageOptions } from './stage-options.js'
import { enroll } from '../enroll.js'
import { Events } from '../lab-events.js'
import { simulatedStaging } from '../images/image-staging.js'
import type { LabFaults } from '../faults/fault.js'
import type { Journal } from '../journal/journal.js'
import { withControl } from './stage-control.js'
import { openApiSwitch } from './api-switch.js'
import { observe } from './observation.js'
import { OwnExchanges } from './own-exchanges.js'
import { StagedIronic, type IronicProcess } from './ironic-process.js'
import { randomnessOf } from './randomness.js'
import { namingNodes } from './naming-nodes.js'
import type { DeployRequest } from '../lab.js'
import { openSnapshots } from '../snapshots/open-snapshots.js'
import { OutsideRequests } from '../snapshots/outside-requests.js'
import { enteringMachines } from '../snapshots/perform.js'
import type { StageSnapshots } from '../snapshots/snapshots.js'
import type { StageKeeper } from './stage-keeper.js'
import { openLiveImages, type LiveImages } from '../images/live-images.js'
import { SimulatedRegistry } from './stage-registry.js'
import { stateFolderError } from '../state/state-folder.js'
import { nodesIn } from './node-directory.js'
import { ReservationGate } from './reservation-gate.js'

/** The conductor's name: `reservation` of a locked node, `conductor` in the API. */
export const CONDUCTOR_HOST = 'ironstage'

/** An Ironic, machines and their agents, composed and running. */
export interface Stage extends AsyncDisposable, BmcListeners {
  /** URL of the API, without `/v1`. */
  readonly url: string
  readonly client: IronicClient
  /** Transport to {@link url}, with and without a socket. */
  readonly transport: Transport
  /** Answers the requests of clients in this process. */
  readonly dispatch: Dispatch
  /** Headers that let the lab's own requests in, where the API asks for a password. */
  readonly headers: Readonly<Record<string, string>>
  /** File with the generated certificate of {@link url}, for clients to trust. */
  readonly caFile: string | null
  /** Certificate and key of the API, for further servers of the same command; null for plain HTTP. */
  readonly tls: TlsOptions | null
  /** Stops Ironic and starts it again, while everything else goes on. */
  readonly ironic: IronicProcess
  readonly conductor: Conductor
  readonly store: Store
  /** The nodes as they are, without a copy. */
  nodes(): Iterable<Readonly<NodeRecord>>
  readonly machines: Machines
  /** Registry from which the systems on machines' disks pull their node images. */
  readonly registry: SimulatedRegistry
  readonly clock: Clock
  readonly events: Events
  readonly faults: LabFaults
  readonly journal: Journal
  readonly probe: Probe
  /** The served live images, if there are any. */
  readonly images: LiveImages['service'] | null
  /** Specification of one of this stage's machines. */
  spec(n: WantedMachine): MachineSpec
  /**
   * Registers a machine, by default the next one by number, as a node in `enroll` with its ports, unless it has a node.
   * Returns the node's uuid.
   */
  enroll(spec?: MachineSpec, fields?: Record<string, unknown>, deployment?: DeployRequest): Promise<string>
  /** The deployment that a node was enrolled with. */
  deploymentOf(uuid: string): DeployRequest
  /** The machine as callers of the stage may use it. */
  entering(machine: Machine): Machine
  readonly snapshots: StageSnapshots
  /** Where stores register for snapshots. */
  readonly keeper: StageKeeper
}

/**
 * Composition root of a lab.
 *
 * @throws UserError when it cannot listen, or the folder cannot be used
 */
export async function composeStage(options: StageOptions = {}): Promise<Stage> {
  return openInScope((scope) => compose(options, scope))
}

async function compose(options: StageOptions, scope: Scope): Promise<Stage> {
  const { folder = null, network = null } = options
  const clock = options.clock ?? systemClock()
  const logger = namingNodes(withoutRepeats(options.logger ?? silent, clock), {
    node: (uuid) => database.records.nodes.get(uuid)?.record,
    nodeOf: (machine) => reservations.nodeOf(machine),
  })
  const randomness = randomnessOf(options.random)
  const random = randomness.main
  const probe = new Probe()
  const events = new Events(
    () => clock.now(),
    (error) => logger('error', 'a listener of the lab failed', { error }),
  )
  if (options.onEvent) events.listen(options.onEvent)

  const agentPace = options.agentPace ?? PROMPT_PACE
  const ownConf = { ...defined({ fetchBootImages: options.liveImages ? true : undefined }), ...options.conf }
  const { conf, service, newest, types } = await ironicSettings({
    ...options,
    conf: ownConf,
    agentPace,
    clock,
    logger,
  })
  const access = await openAccess({ service, host: network?.host ?? null, folder, clock, logger, scope })

  const apiSwitch = openApiSwitch()
  const outsideRequests = new OutsideRequests()
  const { toAgents, transport, addresses, server, url } = await openConnections(network, {
    dispatch: apiSwitch.dispatch,
    access,
    service,
    folder,
    clock,
    random: randomness.refusals,
    logger,
    scope,
    agentTls: options.agentTls ?? conf.requireTls,
    enter: (door, dispatch) => outsideRequests.serving(door, dispatch),
    leaves: (to) => outsideRequests.inputs?.break(`Ironic called ${to}, which is not of the lab`),
  })
  scope.onClose(() => apiSwitch.shut())

  // Each part needs another that is made after it: what they call is only reached once all are there.
  // eslint-disable-next-line prefer-const -- machines tell agents, agents answer to an API that asks machines
  let machines: Machines
  const database = scope.use(
    new CurrentDatabase({
      path: folder?.ironicDb,
      clock,
      onLoss: (sentence) => logger('warn', sentence),
      changed: (uuid) => {
        const entry = database.records.nodes.get(uuid)
        if (!entry) live?.forget(uuid)
        events.emit(entry ? { kind: 'node', node: entry.record } : { kind: 'node-gone', uuid })
      },
    }),
  )
  const reservations = new ReservationGate(database, events)
  const own = new OwnExchanges()
  const agents = new Agents({
    transport: (machine) => {
      const known = own.known(transport)
      return agentPace === PROMPT_PACE ? reservations.patient(machine, known) : known
    },
    addresses,
    fileFolders: conf.fileUrlAllowedPaths,
    clock,
    random,
    probe,
    pace: agentPace,
    tls: options.agentTls ?? conf.requireTls,
    ...defined({ managers: options.managers }),
    logger: withFields(logger, { room: 'agent' }),
    onProgress: (machine, progress) => {
      const { step } = progress
      const reported =
        progress.kind === 'stage'
          ? { stage: progress.name }
          : progress.kind === 'percent'
            ? { percent: progress.value }
            : { line: progress.text }
      events.emit({ kind: 'progress', machine, step, progress: reported })
    },
  })
  const observation = observe({
    probe,
    events,
    clock,
    logger,
    nodes: nodesIn(database, reservations, () => machines),
    seed: options.seed ?? 1,
    journal: options.journal ?? {},
    machines: () => machines,
    agents: () => agents,
    steps: stepNames(options.managers),
    changing: (change) => outsideRequests.inputs?.note(change),
  })
  const spec = machineSpecs(options)

  const live = options.liveImages
    ? scope.use(
        await openLiveImages(options.liveImages, {
          ironicUrl: url,
          store: database,
          folder,
          clock,
          random,
          logger,
          through: own.images(probe),
        }),
      )
    : undefined
  const accounts = new BmcAccounts(folder, options.bmcAccount)
  const accountOf = (address: string) => accounts.of(address)
  const bmcs = machineBmcs({
    machines: () => machines,
    profile: spec,
    used: (machine, node) => reservations.belongs(machine, node),
    accounts,
    probe,
  })
  const { allow } = options
  const imageCache = allow ? { folder: null, ...options.imageCache, allow } : options.imageCache
  const registry = new SimulatedRegistry(clock, {
    changed: (change) => outsideRequests.inputs?.note(change),
    ...defined({ pullable: options.pullable, rate: options.pullRate }),
  })
  machines = await openMachines({
    stateDir: folder?.path ?? null,
    clock,
    random,
    probe,
    pace: options.machinePace ?? NO_PACE,
    logger: withFields(logger, { room: 'machine' }),
    stage: simulatedStaging(imageCache, { clock, random, logger }),
    network: bootNetwork({ clock, allow: options.allow }),
    downloads: own.downloads(probe),
    registry,
    events: {
      ramdiskUp: (machine, boot) => {
        agents.ramdiskUp(machine, boot)
        events.emit({ kind: 'ramdisk-up', machine: machine.spec.id })
      },
      down: (machine, boot) => agents.down(machine, boot),
      firstBoot: (machine, report) => events.emit({ kind: 'first-boot', machine: machine.spec.id, report }),
    },
  })
  scope.use(machines)
  scope.use(agents)
  // A delayed access would keep its machine from ending.
  scope.onClose(() => observation.injector.end())

  /** Starts a conductor, and an API that clients do not reach yet. */
  const start = async (from?: IronicState) => {
    const store = database.watched
    const ironic = await openIronic({
      store,
      host: CONDUCTOR_HOST,
      bmcs,
      clock,
      random,
      probe,
      conf,
      types,
      ...defined({ from }),
      agents: toAgentsOf(() => machines, { transport: toAgents, addresses, probe }),
      logger: withFields(logger, { room: 'conductor' }),
      ironicUrl: () => url,
      ...defined({ servedImages: live?.imagesFor, findImage: options.findImage }),
      deploymentRepeated: (repeated) => events.emit({ kind: 'deployment-repeated', ...repeated }),
    })
    const api = createIronicApi({
      conductor: ironic.conductor,
      store,
      clock,
      random,
      service,
      newest,
      randomOfReads: randomness.reads,
      fastTrack: conf.fastTrack,
      ...defined({ guard: access.guard }),
      logger: withFields(logger, { room: 'api' }),
    })
    return { ironic, dispatch: withLabApi(own.probed(api, probe)) }
  }
  const withLabApi = withControl({
    observation,
    clock,
    probe,
    events,
    logger,
    database,
    live,
    guard: access.guard,
    page: options.page,
    machines: enteringMachines(machines, () => outsideRequests.inputs),
    setAccount: (address, account) => {
      outsideRequests.inputs?.note({ do: 'account', address, account })
      accounts.set(address, account)
    },
    client: () => client,
    snapshots: () => opened.snapshots,
    spec: specsOnDemand(options),
    enroll: (made, fields) => opened.enroll(made, fields),
  })
  const ironic = scope.use(new StagedIronic({ start, apiSwitch, database, reservations }))
  const dispatch = await ironic.begin()
  for (const { record } of database.records.nodes.values()) {
    const machine = findNodeMachine(record, machines)
    if (machine) reservations.belongs(machine.spec.id, record.uuid)
  }
  reservations.open()

  const clientBy = (by: Transport, endpoint: string) =>
    new IronicClient({ transport: by, endpoint, headers: access.headers, clock })
  const seen = (by: Transport) => probeTransport(own.known(by), probe, { from: 'client', to: 'ironic' })
  const enrolling = (by: IronicClient) => ({
    client: by,
    machines,
    store: database.watched,
    account: accountOf,
  })
  /** Enrolls on a private transport, since the API does not answer other clients yet. */
  const enrollFirst = async (wanted: NonNullable<StageOptions['machines']>): Promise<void> => {
    const early = new InProcessTransport()
    using _mounted = early.register(IN_PROCESS_URL, dispatch)
    const parts = enrolling(clientBy(seen(early), IN_PROCESS_URL))
    for (const { spec: named, name } of wanted) await enroll(parts, spec(named), { name })
  }
  await enrollFirst(options.machines ?? []).catch((error: unknown) => {
    const full = folder && error instanceof IronicRefused && error.status === 507
    throw full ? stateFolderError(folder.path, Object.assign(new Error(error.message), { code: 'ENOSPC' })) : error
  })
  // Close the listener before its handlers.
  scope.use(server)

  const transports = { client: seen(transport), transport }
  const opened = await openSnapshots({
    options,
    clock,
    randomness,
    probe,
    events,
    apiSwitch,
    database,
    ironic,
    agents,
    machines,
    transports,
    url,
    outsideRequests,
    scope,
    stores: { own, reservations, accounts, registry, faults: observation.injector, journal: observation.recorder },
    journal: observation.journal,
    faults: observation.faults,
    report: (what) => observation.recorder.lab(what),
    enroll: (made, fields) => enroll(enrolling(clientBy(transports.client, url)), made, fields),
    spec,
  })
  outsideRequests.open(opened.inputs)
  apiSwitch.open(dispatch)
  const client = clientBy(opened.entering.transports.client, url)
  return {
    url,
    client,
    headers: access.headers,
    caFile: access.caFile,
    tls: access.tls ?? null,
    machines,
    registry,
    clock,
    events,
    probe,
    spec,
    keeper: opened.keeper,
    snapshots: opened.snapshots,
    enroll: opened.enroll,
    deploymentOf: opened.deploymentOf,
    transport: opened.entering.transports.transport,
    dispatch: opened.entering.dispatch,
    ironic: opened.entering.ironic,
    entering: opened.entering.machine,
    images: live?.service ?? null,
    faults: observation.faults,
    journal: observation.journal,
    get conductor() {
      return ironic.conductor
    },
    get store() {
      return database.watched
    },
    nodes: () => [...database.records.nodes.values()].map(({ record }) => record),
    ...bmcListeners({ machines, accounts, clock, probe, logger, outsideRequests, allow: options.allow }),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}
