import type { Machine, Machines } from '../../machine/index.js'
import { VirtualClock, type Clock } from '../../base/runtime/index.js'
import { ConnectionFailed, IronicClient, type Dispatch, type Transport } from '../../base/wire/index.js'
import type { BmcAccounts } from '../bmcs/bmc-accounts.js'
import type { Agents } from '../stage/agents.js'
import type { Connections } from '../stage/connections.js'
import { queuedTransport } from '../stage/own-exchanges.js'
import type { IronicProcess, StagedIronic } from '../stage/ironic-process.js'
import type { Observation } from '../stage/observation.js'
import type { ReservationGate } from '../stage/reservation-gate.js'
import type { StageCore } from '../stage/stage-core.js'
import type { CurrentDatabase } from '../stage/stage-database.js'
import type { StageEnrollment } from '../stage/stage-enrollment.js'
import { StageKeeper, stillClock } from '../stage/stage-keeper.js'
import type { StageOptions } from '../stage/stage-options.js'
import type { SimulatedRegistry } from '../stage/stage-registry.js'
import { Forks } from './forks.js'
import { Inputs } from './inputs.js'
import {
  enteringDispatch,
  enteringIronic,
  enteringMachine,
  enteringTransports,
  makePerformer,
  type Transports,
} from './perform.js'
import { StageSnapshots } from './snapshots.js'

/** The parts of a stage whose state is in its snapshots, or which its callers change. */
interface SnapshotSubjects {
  database: CurrentDatabase
  reservations: ReservationGate
  observation: Observation
  agents: Agents
  machines: Machines
  registry: SimulatedRegistry
  accounts: BmcAccounts
  ironic: StagedIronic
  enrollment: StageEnrollment
}

/** The snapshots of a stage, and the parts of it that callers use: their calls enter as inputs, which can be repeated. */
export interface StageEntrance {
  readonly keeper: StageKeeper
  /** Undefined for a stage that cannot be repeated. */
  readonly inputs: Inputs | undefined
  readonly snapshots: StageSnapshots
  readonly client: IronicClient
  readonly transport: Transport
  readonly dispatch: Dispatch
  readonly ironic: IronicProcess
  machine(machine: Machine): Machine
  enroll: StageEnrollment['enroll']
}

export async function openSnapshots(
  options: StageOptions,
  core: StageCore,
  connections: Connections,
  parts: SnapshotSubjects,
): Promise<StageEntrance> {
  const { clock, probe, events, randomness, scope } = core
  const { apiSwitch, access, transport, url, ownExchanges } = connections
  const { observation, ironic, enrollment } = parts
  const transports = {
    client: ownExchanges.client(transport, probe, clock),
    transport: queuedTransport(transport, clock),
  }
  const why = unrepeatable(options, clock)
  const inputs =
    clock instanceof VirtualClock && why === undefined
      ? openInputs(clock, options, core, connections, transports, parts)
      : undefined
  const report = (what: string): void => observation.recorder.lab(what)
  const keeper = openKeeper(core, connections, parts)
  const snapshots = new StageSnapshots({
    keeper,
    clock,
    events,
    inputs,
    journal: observation.journal,
    report,
    random: randomness.main,
    unrepeatable: why ?? PASSING,
    isWithoutMachines: options.elsewhere !== undefined,
    identity: options.identity,
    forks: scope.use(new Forks(options.fork, report)),
  })
  if (!options.folder && !options.database) {
    await stillClock(clock)?.idle()
    snapshots.begin()
  }
  const entering = inputs ? enteringTransports(transports, url, inputs) : transports
  return {
    keeper,
    inputs,
    snapshots,
    client: new IronicClient({ transport: entering.client, endpoint: url, headers: access.headers, clock }),
    transport: entering.transport,
    dispatch: inputs ? enteringDispatch(apiSwitch.dispatch, inputs) : apiSwitch.dispatch,
    ironic: enteringIronic(ironic, inputs),
    machine: (machine) => (inputs ? enteringMachine(machine, inputs) : machine),
    enroll: (input) => inputs?.call<string>({ do: 'enroll', ...input }) ?? enrollment.enroll(input),
  }
}

/** Why a stage cannot be repeated from what its callers did; undefined when it can. */
function unrepeatable(
  { folder, liveImages, elsewhere, rewinds = true }: StageOptions,
  clock: Clock,
): string | undefined {
  if (!(clock instanceof VirtualClock)) return PASSING
  if (!rewinds) return 'this lab does not record its calls'
  if (folder) return 'a lab with a state folder cannot be repeated'
  if (elsewhere) return 'a lab whose machines are elsewhere cannot be repeated'
  if (liveImages) return 'a lab whose machines fetch what they boot cannot be repeated'
  return undefined
}

const PASSING = 'a lab whose time passes by itself cannot be repeated'

function openKeeper(
  { clock, probe, randomness }: StageCore,
  connections: Connections,
  parts: SnapshotSubjects,
): StageKeeper {
  const { database, ironic, agents, machines, observation } = parts
  const { apiSwitch } = connections
  const keeper = new StageKeeper({ clock, probe, apiSwitch, database, ironic, agents, machines: machines.snapshots })
  keeper.register('enrolled', parts.enrollment)
  keeper.register('randomness', randomness.main)
  keeper.register('randomness of reads', randomness.reads)
  keeper.register('own', connections.ownExchanges)
  keeper.register('reservations', parts.reservations)
  keeper.register('accounts', parts.accounts)
  keeper.register('registry', parts.registry)
  keeper.register('faults', observation.injector)
  keeper.register('journal', observation.recorder)
  return keeper
}

function openInputs(
  clock: VirtualClock,
  options: StageOptions,
  { probe }: StageCore,
  { apiSwitch, outsideRequests }: Connections,
  transports: Transports,
  { registry, accounts, observation, machines, ironic, enrollment }: SnapshotSubjects,
): Inputs {
  return new Inputs({
    clock,
    probe,
    hasSockets: options.network != null,
    perform: makePerformer({
      registry,
      accounts,
      faults: observation.faults,
      transports,
      enroll: (input) => enrollment.enroll(input),
      serve: (door, request) => {
        const dispatch = door === 'api' ? apiSwitch.dispatch : outsideRequests.dispatchOf(door)
        return dispatch ? dispatch(request) : Promise.reject(new ConnectionFailed(`nothing serves ${door}`))
      },
      machines,
      ironic,
    }),
  })
}
