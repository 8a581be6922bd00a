import type { HardwareFleet, Machine, MachineBootSource, Machines, MachineSpec } from '../../machine/index.js'
import {
  defined,
  systemRandom,
  urlSafeToken,
  UserError,
  type Clock,
  type Logger,
  type Probe,
} from '../../base/runtime/index.js'
import type { Dispatch, WireRequest, WireResponse } from '../../base/wire/index.js'
import type { MemberDatabase } from '../../ironic-mock/index.js'
import type { BmcAccount, LabFaults, ControlHandler, ControlOperationId, RunProgress } from '../../control/index.js'
import { Events } from '../lab-events.js'
import type { Journal, JournalOptions } from '../journal/journal.js'
import type { LabMembers } from '../members/lab-members.js'
import { Metrics } from '../metrics/metrics.js'
import type { Agents } from '../stage/agents.js'
import { withPage } from '../page/dashboard-page.js'
import { NO_NODES, observe, type NodeDirectory, type Observation } from '../stage/observation.js'
import { ClockControl, FIXED_BY_PROCESSES } from './clock-control.js'
import { controlApi } from './control-api.js'
import { controlHandlers } from './handlers.js'
import { machineChanges } from './machine-changes.js'

export interface MachineControlParts {
  probe: Probe
  clock: Clock
  logger: Logger
  seed: number
  journal?: Pick<JournalOptions, 'capacity' | 'bytes'>
  machines: () => Machines
  /** Agents of the machines; absent where they have none. */
  agents?: () => Pick<Agents, 'isInstalling' | 'stepOf' | 'restart'>
  /** True if hosts reach the machines by links that faults can cut. */
  links?: boolean
  /** The run that the machines are of. */
  run?: () => RunProgress
  /** True if its hosts are real, so that no fault can strike them. */
  isReal?: boolean
  /** Specification of the machine of a number. */
  spec: (number: number, hardware: HardwareFleet | undefined) => MachineSpec
  /** Source of the boots of machines that are added. */
  source: MachineBootSource
  /** Called with each machine that was added. */
  made: (machine: Machine) => Promise<void>
  /** Called with the id of each machine that was removed. */
  removed?: (id: string) => Promise<void> | undefined
  /** Called once the list of machines has changed. */
  changed?: () => Promise<void> | undefined
  setAccount: (machine: Machine, account: BmcAccount) => void
  /** True if the dashboard is served. */
  page?: boolean
  /** True if the machines are for the Ironic of a database, which {@link MachineControl.join} joins. */
  isShared?: boolean
}

/** Faults, journal and control API of machines whose Ironic is elsewhere. */
export interface MachineControl {
  readonly faults: LabFaults
  readonly journal: Journal
  readonly events: Events
  /** Lets go of what waits at a fault, before the machines close. */
  end(): void
  /** The control API, to be served on loopback by {@link serveControl}; other paths are answered by a hint to it. */
  dispatch(): Dispatch
  /**
   * Joins the lab of a database: from now on the control API is of all its processes, and their faults strike here.
   *
   * @throws UserError when the database does not answer
   */
  join(database: MemberDatabase): Promise<AsyncDisposable>
  /** Answers another process of the database; undefined for any other request, and before {@link join}. */
  answerMember(request: WireRequest): Promise<WireResponse> | undefined
}

/** Attaches faults and a journal to the probe of machines, and makes their control API. */
export function machineControl(parts: MachineControlParts): MachineControl {
  const { probe, clock, logger, seed } = parts
  const events = new Events(
    () => clock.now(),
    (error) => logger('error', 'a listener of the fleet failed', { error }),
  )
  let joined: JoinedLab | undefined
  const observation = observe({
    probe,
    events,
    clock,
    logger,
    seed,
    nodes: NO_NODES,
    faultNodes: nodesFrom(() => joined?.nodes),
    journal: parts.journal ?? {},
    machines: parts.machines,
    agents: parts.agents ?? (() => NO_AGENTS),
    changing: () => {},
    ...defined({ links: parts.links ? true : undefined }),
    hasAgents: parts.agents !== undefined,
    isShared: parts.isShared ?? false,
  })
  const { faults, journal, injector } = observation
  let made: MachineHandlers | undefined
  const handlers = () => (made ??= machineHandlers(parts, events, observation))
  return {
    faults,
    journal,
    events,
    end: () => injector.end(),
    dispatch: () => machineDispatch(parts, observation, handlers(), () => joined?.together),
    join: async (database) => {
      const members = await openMembers(parts, observation, database)
      joined = { members, together: members.beside(handlers(), {})(noIronic), nodes: database.nodes }
      return members
    },
    answerMember: (request) => (joined?.members.isAsking(request) ? joined.together(request) : undefined),
  }
}

/** The lab of a database, as these machines are in it. */
interface JoinedLab {
  readonly members: LabMembers
  /** The control API of all processes. */
  readonly together: Dispatch
  readonly nodes: MemberDatabase['nodes']
}

/** The nodes of the machines, for faults; the journal names machines alone, since those of the Ironic name the nodes. */
const nodesFrom = (nodes: () => MemberDatabase['nodes']): NodeDirectory => ({
  node: (ident) => nodes()?.node(ident),
  nodeOf: (machine) => nodes()?.nodeOf(machine),
  machineOf: ({ uuid }) => nodes()?.machineOf(uuid),
  list: () => [],
})

/** Opens what the processes of a database share of their labs: it is loaded for such a database, and nowhere before. */
async function openMembers(
  { clock, logger }: MachineControlParts,
  observation: Observation,
  shared: MemberDatabase,
): Promise<LabMembers> {
  const { openLabMembers } = await import('../members/lab-members.js')
  return openLabMembers({ shared, observation, secret: urlSafeToken(systemRandom), clock, logger })
}

type MachineHandlers = Record<ControlOperationId, ControlHandler>

/** @param together the control API of all processes of a database, once it is joined */
function machineDispatch(
  parts: MachineControlParts,
  { faults, journal, strikes }: Observation,
  handlers: MachineHandlers,
  together: () => Dispatch | undefined,
): Dispatch {
  const { clock, logger } = parts
  const own = parts.isShared ? { ...handlers, addFault: faultTooEarly, importFaults: faultTooEarly } : handlers
  const alone = controlApi({ api: noIronic, handlers: own, logger })
  const api: Dispatch = (request) => (together() ?? alone)(request)
  const queues = () => ({ effects: 0, deadlines: 0 })
  const machines = parts.machines()
  const metrics = new Metrics({ clock, machines, faults, journal, strikes, nodes: NO_NODE_CALLS.nodes, queues })
  const control = metrics.beside(api, undefined)
  return parts.page ? withPage(control) : control
}

/** The calls of the control API for machines alone. */
function machineHandlers(parts: MachineControlParts, events: Events, observation: Observation): MachineHandlers {
  const { clock, run } = parts
  const { faults, journal, recorder } = observation
  const machines = parts.machines()
  const handlers: MachineHandlers = controlHandlers({
    ...NO_NODE_CALLS,
    probe: parts.probe,
    time: clock,
    machines,
    faults,
    journal,
    clock: new ClockControl({
      clock,
      events,
      node: () => undefined,
      scaledOnly: true,
      ...defined({ fixed: fixedClock(parts) }),
      note: (what) => recorder.lab(what),
    }),
    snapshots: () => {
      const remedy = run ? 'start the run again with --restart' : 'start the fleet again'
      throw lacking(run, 'snapshots: only part of what happens is in this process', remedy)
    },
    enroll: () => Promise.reject(lackingNodes(run)),
    removeMachine: async (id) => {
      await machines.remove(id)
      await parts.removed?.(id)
      await parts.changed?.()
    },
    ...machineChanges(machines, parts),
    setAccountOf: parts.setAccount,
    ...(run ? { ...HOSTS_OF_A_FILE, run } : {}),
  })
  if (parts.isReal) handlers.addFault = noFaults
  return handlers
}

/** Why time cannot be changed; undefined where it can. */
function fixedClock({ run, isShared }: MachineControlParts): string | undefined {
  if (run) return 'a run uses real time'
  return isShared ? FIXED_BY_PROCESSES : undefined
}

/** Answers about nodes where there is no Ironic. */
const NO_NODE_CALLS = {
  node: () => undefined,
  nodes: () => [],
  machineOf: () => undefined,
  outlook: () => ({ deadlines: [], plan: null }),
  removeNode: () => Promise.resolve(),
  images: () => undefined,
  waitsFor: () => null,
  setBmcAccount: () => false,
}

const lacking = (run: MachineControlParts['run'], what: string, remedy: string): UserError =>
  new UserError('not-in-a-fleet', `${run ? 'a run' : 'a fleet'} has no ${what}`, { remedy })

const lackingNodes = (run: MachineControlParts['run']): UserError =>
  run
    ? lacking(run, 'nodes', 'ask Ironic for them, where the run goes through one')
    : lacking(run, 'nodes: its Ironic is elsewhere', 'POST /_lab/machines adds machines; enroll them in that Ironic')

const noIronic: Dispatch = () =>
  Promise.resolve({ status: 404, headers: { 'content-type': 'text/plain' }, body: 'GET /_lab\n' })

const NO_AGENTS = { isInstalling: () => false, stepOf: () => undefined, restart: () => {} }

/** A run knows its machines by the hosts of its file: one that changed under it would fail for a reason that no host has. */
const ofItsFile = (remedy: string) => () => {
  throw new UserError('not-in-a-fleet', 'the machines of a run are the hosts of its file', { remedy })
}

const HOSTS_OF_A_FILE = {
  addMachines: ofItsFile('add a host to the file, and start a new run'),
  removeMachine: ofItsFile('cut its power instead, or remove the host from the file and start a new run'),
  reimage: ofItsFile('change the host in the file, and start the run again with --restart'),
  setAccountOf: ofItsFile('a fault of kind status at its BMC refuses requests as a wrong password does'),
}

/** Added now, it would strike here alone, and later everywhere. */
const faultTooEarly: ControlHandler = () => {
  throw new UserError(
    'database-unreachable',
    'faults are those of all processes of the database, which is not joined yet',
    {
      remedy: 'call again when the database answers',
    },
  )
}

const noFaults: ControlHandler = () => {
  throw new UserError('fault', 'the hosts of this run are real, so the fault could never strike', {
    kind: 'usage',
    remedy: 'rehearse the run: ironstage run --rehearse',
  })
}
