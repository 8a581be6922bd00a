import type { Machine, MachineSpec, Machines } from '../../machine/index.js'
import { VirtualClock, defined, type Clock, type Probe, type Scope } from '../../base/runtime/index.js'
import { ConnectionFailed, type Dispatch } from '../../base/wire/index.js'
import type { BmcAccounts } from '../bmcs/bmc-accounts.js'
import type { Events } from '../lab-events.js'
import type { LabFaults } from '../faults/fault.js'
import type { FaultInjector } from '../faults/faults.js'
import type { Journal } from '../journal/journal.js'
import type { JournalRecorder } from '../journal/record.js'
import type { DeployRequest } from '../lab.js'
import type { Agents } from '../stage/agents.js'
import type { CurrentDatabase } from '../stage/stage-database.js'
import type { ApiSwitch } from '../stage/api-switch.js'
import type { IronicProcess, StagedIronic } from '../stage/ironic-process.js'
import type { SimulatedRegistry } from '../stage/stage-registry.js'
import type { OwnExchanges } from '../stage/own-exchanges.js'
import type { ReservationGate } from '../stage/reservation-gate.js'
import type { Randomness } from '../stage/randomness.js'
import { StageKeeper, stillClock } from '../stage/stage-keeper.js'
import type { StageOptions } from '../stage/stage-options.js'
import type { OutsideRequests } from './outside-requests.js'
import { Forks } from './forks.js'
import type { Input } from './lab-input.js'
import { Inputs } from './inputs.js'
import { enteringDispatch, enteringMachine, enteringTransports, makePerformer, type Transports } from './perform.js'
import { StageSnapshots } from './snapshots.js'

interface SnapshotsParts {
  options: StageOptions
  clock: Clock
  randomness: Randomness
  probe: Probe
  events: Events
  apiSwitch: ApiSwitch
  database: CurrentDatabase
  ironic: StagedIronic
  agents: Agents
  machines: Machines
  transports: Transports
  url: string
  outsideRequests: OutsideRequests
  scope: Scope
  stores: {
    own: OwnExchanges
    reservations: ReservationGate
    accounts: BmcAccounts
    registry: SimulatedRegistry
    faults: FaultInjector
    journal: JournalRecorder
  }
  journal: Journal
  /** Faults as callers add them. */
  faults: LabFaults
  /** Writes a sentence into the journal. */
  report: (what: string) => void
  spec: (n: number) => MachineSpec
  enroll: (spec: MachineSpec, fields: Record<string, unknown> | undefined) => Promise<string>
}

/** Why a stage cannot be repeated from what its callers did; undefined when it can. */
function unrepeatable({ folder, liveImages, rewinds = true }: StageOptions, clock: Clock): string | undefined {
  if (!(clock instanceof VirtualClock)) return PASSING
  if (!rewinds) return 'this lab does not keep what its callers do'
  if (folder) return 'a lab with a state folder cannot be repeated'
  if (liveImages) return 'a lab whose machines fetch what they boot cannot be repeated'
  return undefined
}

const PASSING = 'a lab whose time goes on by itself cannot be repeated'

interface OpenedSnapshots {
  keeper: StageKeeper
  inputs: Inputs | undefined
  snapshots: StageSnapshots
  enroll(spec?: MachineSpec, fields?: Record<string, unknown>, deployment?: DeployRequest): Promise<string>
  deploymentOf(uuid: string): DeployRequest
  /** The parts that callers use, whose calls enter as inputs. */
  entering: {
    transports: Transports
    dispatch: Dispatch
    ironic: IronicProcess
    machine: (machine: Machine) => Machine
  }
}

/** Opens the snapshots of a stage, and the parts of it that its callers use. */
export async function openSnapshots(parts: SnapshotsParts): Promise<OpenedSnapshots> {
  const { options, clock, randomness, probe, events, machines, ironic, transports, url, stores } = parts
  const keeper = new StageKeeper({ ...parts, machines: machines.snapshots })
  const deployments = new Map<string, DeployRequest>()
  let number = 0
  keeper.register('enrolled', {
    take: () => ({ number, deployments: new Map(deployments) }),
    restore: (state) => {
      number = state.number
      deployments.clear()
      for (const [uuid, deployment] of state.deployments) deployments.set(uuid, deployment)
    },
  })
  keeper.register('randomness', randomness.main)
  keeper.register('randomness of reads', randomness.reads)
  for (const [name, store] of Object.entries(stores)) keeper.register(name, store as ReservationGate)

  const enroll = async ({ spec, fields, deployment }: Omit<Input & { do: 'enroll' }, 'do'>): Promise<string> => {
    const uuid = await parts.enroll(spec ?? parts.spec(++number), fields)
    if (deployment) deployments.set(uuid, deployment)
    return uuid
  }
  const why = unrepeatable(options, clock)
  const inputs =
    why === undefined
      ? new Inputs({
          clock: clock as VirtualClock,
          probe,
          hasSockets: options.network != null,
          perform: makePerformer({
            registry: stores.registry,
            accounts: stores.accounts,
            faults: parts.faults,
            transports,
            enroll,
            serve: (door, request) => {
              const dispatch = door === 'api' ? parts.apiSwitch.dispatch : parts.outsideRequests.dispatchOf(door)
              return dispatch ? dispatch(request) : Promise.reject(new ConnectionFailed(`nothing serves ${door}`))
            },
            machines: () => machines,
            ironic: () => ironic,
          }),
        })
      : undefined
  const snapshots = new StageSnapshots({
    keeper,
    clock,
    events,
    inputs,
    journal: parts.journal,
    report: parts.report,
    random: randomness.main,
    unrepeatable: why ?? PASSING,
    identity: options.identity,
    forks: parts.scope.use(new Forks(options.fork, parts.report)),
  })
  if (!options.folder) {
    await stillClock(clock)?.idle()
    snapshots.begin()
  }
  const calledIronic: IronicProcess = {
    get isRunning() {
      return ironic.isRunning
    },
    stop: (how) => inputs?.call({ do: 'stop Ironic', keepsDatabase: how.keepsDatabase }) ?? ironic.stop(how),
    start: () => inputs?.call({ do: 'start Ironic' }) ?? ironic.start(),
  }
  return {
    keeper,
    inputs,
    snapshots,
    enroll: (spec?: MachineSpec, fields?: Record<string, unknown>, deployment?: DeployRequest): Promise<string> => {
      const input = defined({ spec, fields, deployment })
      return inputs?.call<string>({ do: 'enroll', ...input }) ?? enroll(input)
    },
    deploymentOf: (uuid: string): DeployRequest => deployments.get(uuid) ?? {},
    entering: {
      transports: inputs ? enteringTransports(transports, url, inputs) : transports,
      dispatch: inputs ? enteringDispatch(parts.apiSwitch.dispatch, inputs) : parts.apiSwitch.dispatch,
      ironic: calledIronic,
      machine: (machine: Machine) => (inputs ? enteringMachine(machine, inputs) : machine),
    },
  }
}
