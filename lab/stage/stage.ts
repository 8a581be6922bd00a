import type { Conductor, MemberRole, SharedDatabase, Store } from '../../ironic-mock/index.js'
import type { Machine, Machines, MachineSpec } from '../../machine/index.js'
import {
  defined,
  LateBound,
  openInScope,
  systemRandom,
  urlSafeToken,
  type Clock,
  type Probe,
  type Scope,
} from '../../base/runtime/index.js'
import {
  IronicRefused,
  type Dispatch,
  type IronicClient,
  type NodeRecord,
  type TlsOptions,
  type Transport,
} from '../../base/wire/index.js'
import { BmcAccounts } from '../bmcs/bmc-accounts.js'
import { bmcListeners, type BmcListeners } from '../bmcs/bmc-listeners.js'
import type { Fault, LabFaults } from '../../control/index.js'
import { openLiveImages, type LiveImages } from '../images/live-images.js'
import type { Journal } from '../journal/journal.js'
import type { Events } from '../lab-events.js'
import type { LabMembers } from '../members/lab-members.js'
import { refuseChanges } from '../members/refuse-changes.js'
import type { DeployRequest } from '../lab.js'
import { openSnapshots, type StageEntrance } from '../snapshots/open-snapshots.js'
import type { StageSnapshots } from '../snapshots/snapshots.js'
import { stateFolderError } from '../state/state-folder.js'
import { stepNames } from './agents.js'
import { openConnections, type Connections } from './connections.js'
import { ironicSettings, type IronicSettings } from './ironic-settings.js'
import { joinDatabase } from './join-database.js'
import { StagedIronic, type IronicProcess } from './ironic-process.js'
import { machineSpecs, type WantedMachine } from './machine-specs.js'
import { namingNodes } from './naming-nodes.js'
import { nodesIn } from './node-directory.js'
import { observe, type NodeDirectory, type Observation } from './observation.js'
import { ReservationGate } from './reservation-gate.js'
import { stageAgents } from './stage-agents.js'
import { stageControl } from './stage-control.js'
import { openCore, type StageCore } from './stage-core.js'
import { openElsewhere, type Elsewhere } from './stage-elsewhere.js'
import { CurrentDatabase } from './stage-database.js'
import { StageEnrollment } from './stage-enrollment.js'
import { ironicStarter } from './stage-ironic.js'
import type { StageKeeper } from './stage-keeper.js'
import { openStageMachines } from './stage-machines.js'
import type { StageOptions } from './stage-options.js'
import type { SimulatedRegistry } from './stage-registry.js'

/** A process among those of its database. */
export interface StageMember {
  /** The database, without its password. */
  readonly address: string
  readonly schema: string
  /** Name of the process, as `/v1/conductors` shows it. */
  readonly name: string
  readonly role: MemberRole
}

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
  /** With a shared database they are those of all processes, and only shown. */
  readonly faults: LabFaults
  /** Adds faults, those of all processes of its database. @throws UserError `fault` */
  addFaults(faults: readonly Fault[]): Promise<void>
  readonly journal: Journal
  readonly probe: Probe
  /** This process among those of its database; null where it has one of its own. */
  readonly member: StageMember | null
  /** The way to the machines, where these are elsewhere. */
  readonly elsewhere: Pick<Elsewhere, 'bootUrl'> | null
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
  /** Is no longer ready for requests, and still answers those that come. */
  drain(): void
}

/**
 * Composition root of a lab. Its parts are opened in the order network, database, agents, faults and journal, machines,
 * Ironic with the control API, snapshots; each knows those before it. Three references go the other way, and are bound late.
 *
 * @throws UserError when it cannot listen, or the folder cannot be used
 */
export async function composeStage(options: StageOptions = {}): Promise<Stage> {
  return openInScope((scope) => compose(options, scope))
}

async function compose(options: StageOptions, scope: Scope): Promise<Stage> {
  const opening = openCore(options, scope)
  const settings = await ironicSettings(options, opening)
  const openedDatabase = new LateBound<CurrentDatabase>('database')
  const databaseTrouble = () => openedDatabase.get().trouble
  const connections = await openConnections(options, opening, settings, databaseTrouble)
  const database = openedDatabase.bind(await openDatabase(options, opening, settings, connections))
  const reservations = new ReservationGate(database, opening.events)
  const core = { ...opening, logger: namingNodes(opening.logger, database, reservations) }

  // Machines of an earlier start boot while they are opened: their agents, faults and the journal come first.
  const openedMachines = new LateBound<Machines>('machines')
  const agents = stageAgents(options, core, settings, connections, reservations)
  const nodes = nodesIn(database, reservations, () => openedMachines.get())
  const observation = observe({
    probe: core.probe,
    events: core.events,
    clock: core.clock,
    logger: core.logger,
    nodes,
    seed: options.seed ?? 1,
    journal: options.journal ?? {},
    machines: () => openedMachines.get(),
    agents: () => agents,
    ...defined({
      hosts: options.hostLabels,
      // Machines elsewhere may have steps of their own.
      steps: options.elsewhere ? undefined : stepNames(options.managers),
    }),
    isShared: database.shared !== undefined,
    changing: (change) => connections.outsideRequests.inputs?.note(change),
  })
  const live = await openStageImages(options, core, connections, database)
  const elsewhere = await openElsewhere(options, core, { settings, connections, live })
  const { machines, registry } = await openStageMachines(options, core, connections, agents)
  openedMachines.bind(machines)
  scope.use(agents)
  // A delayed access would keep its machine from ending.
  scope.onClose(() => observation.injector.end())

  // The control API is part of the API of Ironic, and its snapshots stop and start that Ironic.
  const entrance = new LateBound<StageEntrance>('snapshots')
  const accounts = new BmcAccounts(options.folder ?? null, options.bmcAccount)
  const enrollment = new StageEnrollment(core, connections, {
    machines,
    database,
    accounts,
    spec: machineSpecs(options),
    group: settings.conf.conductorGroup,
  })
  const opened = { database, reservations, observation, agents, machines, registry }
  const members = await openMembers(core, database, observation)
  const parts = { ...opened, accounts, live, elsewhere, enrollment, members }
  const withControl = stageControl(options, core, connections, { ...parts, entrance })
  const start = ironicStarter(options, core, settings, connections, { ...parts, withControl })
  const ironic = scope.use(new StagedIronic({ start, apiSwitch: connections.apiSwitch, database, reservations }))
  const dispatch = await ironic.begin()
  // A fault that was added while this process registered was not waited for.
  await members?.faults.begin()
  reserveMachines(nodes, reservations)
  await enrollFirst(options, enrollment, dispatch)
  // Close the listener before its handlers.
  scope.use(connections.server)

  entrance.bind(await openSnapshots(options, core, connections, { ...parts, ironic }))
  connections.outsideRequests.open(entrance.get().inputs)
  connections.apiSwitch.open(dispatch)
  return stageOf(options, core, connections, { ...parts, ironic, entrance: entrance.get() })
}

/** Opens what the processes of a database share of their labs: it is loaded for such a database, and nowhere before. */
async function openMembers(
  { clock, logger, scope }: StageCore,
  { shared, records }: CurrentDatabase,
  observation: Observation,
): Promise<LabMembers | undefined> {
  if (!shared) return undefined
  const { openLabMembers } = await import('../members/lab-members.js')
  observation.recorder.know([...records.nodes.values()].map(({ record }) => record))
  const secret = urlSafeToken(systemRandom)
  return scope.use(await openLabMembers({ shared, observation, secret, clock, logger }))
}

/** Tells the gate whose machines the stored nodes use, and opens it. */
function reserveMachines(nodes: NodeDirectory, reservations: ReservationGate): void {
  for (const node of nodes.list()) {
    const machine = nodes.machineOf(node)
    if (machine !== undefined) reservations.belongs(machine, node.uuid)
  }
  reservations.open()
}

async function openDatabase(
  options: StageOptions,
  { clock, events, logger, scope }: StageCore,
  settings: IronicSettings,
  { url, access }: Connections,
): Promise<CurrentDatabase> {
  const shared = await joinDatabase(options, { clock, logger, settings, url, access })
  const database = new CurrentDatabase({
    path: options.folder?.ironicDb,
    shared,
    clock,
    onLoss: (sentence) => logger('warn', sentence),
    changed: (uuid, isOwn) => {
      const entry = database.records.nodes.get(uuid)
      const commit = defined({ commit: shared && { revision: entry?.revision ?? null, isOwn } })
      events.emit(entry ? { kind: 'node', node: entry.record, ...commit } : { kind: 'node-gone', uuid, ...commit })
    },
  })
  return scope.use(database)
}

async function openStageImages(
  { liveImages, folder = null }: StageOptions,
  { clock, randomness, probe, events, logger, scope }: StageCore,
  { url, ownExchanges }: Connections,
  database: CurrentDatabase,
): Promise<LiveImages | undefined> {
  if (!liveImages) return undefined
  const live = await openLiveImages(liveImages, {
    ironicUrl: url,
    store: database,
    folder,
    clock,
    random: randomness.main,
    logger,
    through: ownExchanges.images(probe),
  })
  events.listen((event) => {
    if (event.kind === 'node-gone') live.forget(event.uuid)
  }, 'always')
  return scope.use(live)
}

/** @throws UserError when the disk of the state folder is full */
async function enrollFirst(
  { machines = [], folder = null }: StageOptions,
  enrollment: StageEnrollment,
  dispatch: Dispatch,
): Promise<void> {
  try {
    await enrollment.enrollFirst(machines, dispatch)
  } catch (error) {
    if (!folder || !(error instanceof IronicRefused) || error.status !== 507) throw error
    throw stateFolderError(folder.path, Object.assign(new Error(error.message), { code: 'ENOSPC' }))
  }
}

const memberOf = (shared: SharedDatabase | undefined): StageMember | null =>
  shared
    ? { address: shared.address.shown, schema: shared.address.schema, name: shared.self.host, role: shared.self.role }
    : null

interface OpenedParts extends Pick<Stage, 'machines' | 'registry'> {
  database: CurrentDatabase
  observation: Observation
  accounts: BmcAccounts
  live: LiveImages | undefined
  elsewhere: Elsewhere | undefined
  enrollment: StageEnrollment
  members: LabMembers | undefined
  ironic: StagedIronic
  entrance: StageEntrance
}

/** The stage as its users see it. */
function stageOf(
  options: StageOptions,
  { clock, probe, events, logger, scope }: StageCore,
  { url, access, outsideRequests, apiSwitch }: Connections,
  parts: OpenedParts,
): Stage {
  const {
    machines,
    registry,
    database,
    observation,
    accounts,
    live,
    elsewhere,
    enrollment,
    members,
    ironic,
    entrance,
  } = parts
  return {
    url,
    client: entrance.client,
    transport: entrance.transport,
    dispatch: entrance.dispatch,
    headers: access.headers,
    caFile: access.caFile,
    tls: access.tls ?? null,
    ironic: entrance.ironic,
    get conductor() {
      return ironic.conductor
    },
    get store() {
      return database.watched
    },
    nodes: () => [...database.records.nodes.values()].map(({ record }) => record),
    machines,
    registry,
    clock,
    events,
    faults: members ? refuseChanges(observation.faults) : observation.faults,
    addFaults: async (faults) => void (await (members?.faults ?? observation.faults).addAll(faults)),
    journal: observation.journal,
    probe,
    member: memberOf(database.shared),
    elsewhere: elsewhere ?? null,
    images: live?.service ?? null,
    spec: machineSpecs(options),
    enroll: (spec, fields, deployment) => entrance.enroll(defined({ spec, fields, deployment })),
    deploymentOf: (uuid) => enrollment.deploymentOf(uuid),
    entering: (machine) => entrance.machine(machine),
    snapshots: entrance.snapshots,
    keeper: entrance.keeper,
    drain: () => apiSwitch.drain(),
    ...bmcListeners({ machines, accounts, clock, probe, logger, outsideRequests, allow: options.allow }),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}
