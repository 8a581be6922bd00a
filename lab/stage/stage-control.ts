import { deadlinesOf, missingPort, stepPlan, type StoreView } from '../../ironic-mock/index.js'
import type { Machines } from '../../machine/index.js'
import { defined, UserError, type LateBound } from '../../base/runtime/index.js'
import type { Dispatch, IronicClient, NodeRecord } from '../../base/wire/index.js'
import type { BmcAccounts } from '../bmcs/bmc-accounts.js'
import type { BmcAccount } from '../../control/index.js'
import { bmcAddressOf, findNodeMachine } from '../bmcs/bmcs.js'
import { ClockControl, FIXED_BY_PROCESSES } from '../control/clock-control.js'
import { controlApi } from '../control/control-api.js'
import { controlHandlers } from '../control/handlers.js'
import { machineChanges } from '../control/machine-changes.js'
import type { LabMembers } from '../members/lab-members.js'
import type { LiveImages } from '../images/live-images.js'
import { Metrics } from '../metrics/metrics.js'
import { withPage } from '../page/dashboard-page.js'
import type { StageEntrance } from '../snapshots/open-snapshots.js'
import { enteringMachines } from '../snapshots/perform.js'
import type { Connections } from './connections.js'
import { enrollMore } from './enroll-more.js'
import { specsOnDemand } from './machine-specs.js'
import type { Observation } from './observation.js'
import type { StageCore } from './stage-core.js'
import type { CurrentDatabase } from './stage-database.js'
import type { StageOptions } from './stage-options.js'

/** The parts that the control API acts on. */
interface ControlledParts {
  observation: Observation
  database: CurrentDatabase
  machines: Machines
  accounts: BmcAccounts
  live: LiveImages | undefined
  /** The processes of its database; undefined for one of this process alone. */
  members: LabMembers | undefined
  /** Opened later: snapshots stop and start the Ironic that the control API stands beside. */
  entrance: LateBound<StageEntrance>
}

/** Puts the control API of a stage beside Ironic's. */
export function stageControl(
  options: StageOptions,
  core: StageCore,
  connections: Connections,
  parts: ControlledParts,
): (api: Dispatch) => Dispatch {
  const { access, outsideRequests } = connections
  const { clock, probe, logger } = core
  const { observation, database, machines: all, accounts, live, members, entrance } = parts
  const { guard } = access
  const { faults, journal, strikes, node } = observation
  const machines = enteringMachines(all, () => outsideRequests.inputs)
  const nodes = () => [...database.records.nodes.values()].map(({ record }) => record)
  const spec = specsOfMachines(options)
  const setAccount = accountSetter(connections, accounts)
  const handlers = controlHandlers({
    machines,
    faults,
    journal,
    node,
    nodes,
    probe,
    time: clock,
    snapshots: () => entrance.get().snapshots,
    outlook: (record) => ({
      deadlines: deadlinesOf(database.records, record.uuid),
      plan: stepPlan(record, database.records),
    }),
    clock: clockControl(core, parts),
    machineOf: (record) => findNodeMachine(record, machines),
    enroll: (wanted) =>
      enrollMore(wanted, {
        machines,
        node,
        spec,
        enroll: (made, fields) => entrance.get().enroll({ spec: made, fields }),
      }),
    removeNode: (record) => removeNode(record, entrance.get().client, machines),
    removeMachine: (id) => machines.remove(id),
    ...machineChanges(machines, { spec }),
    setAccountOf: ({ spec: { bmc } }, account) => bmc && setAccount(bmc.address, account),
    images: (record) => live?.urlsOf(record),
    ...defined({ hostOf: options.hostOf, recordings: options.recordings, joinedPast: members?.past }),
    waitsFor: (record) => missingPort(record, database.records.portsOf(record.uuid)),
    setBmcAccount: (record, account) => {
      const address = bmcAddressOf(record)
      if (address !== undefined) setAccount(address, account)
      return address !== undefined
    },
  })
  const queues = () => queueLengths(database.records)
  const metrics = new Metrics({ clock, machines, faults, journal, strikes, nodes, queues })
  const ofAll = members?.beside(handlers, defined({ guard, recordings: options.recordings }))
  return (api) => {
    const alone = () => controlApi({ api, handlers, logger, ...defined({ guard }) })
    const control = metrics.beside(ofAll?.(api) ?? alone(), guard)
    return options.page ? withPage(control) : control
  }
}

const accountSetter =
  ({ outsideRequests }: Connections, accounts: BmcAccounts) =>
  (address: string, account: BmcAccount): void => {
    outsideRequests.inputs?.note({ do: 'account', address, account })
    accounts.set(address, account)
  }

const clockControl = ({ clock, events }: StageCore, { observation, members }: ControlledParts): ClockControl =>
  new ClockControl({
    clock,
    events,
    node: observation.node,
    note: (what) => observation.recorder.lab(what),
    ...defined({ fixed: members && FIXED_BY_PROCESSES }),
  })

/** All calls that make machines begin with a specification. */
function specsOfMachines(options: StageOptions): ReturnType<typeof specsOnDemand> {
  const specs = specsOnDemand(options)
  return (...wanted) => {
    refuseMachines(options)
    return specs(...wanted)
  }
}

/** @throws UserError `machines-elsewhere` */
function refuseMachines({ elsewhere }: StageOptions): void {
  if (elsewhere)
    throw new UserError('machines-elsewhere', 'this lab makes no machines: those of its nodes are elsewhere', {
      remedy: 'enroll machines of a fleet: ironstage fleet --count 3 --ironic-url URL --enroll',
    })
}

/** Deletes a node in any state, and its machine. */
async function removeNode(record: Readonly<NodeRecord>, client: IronicClient, machines: Machines): Promise<void> {
  const machine = findNodeMachine(record, machines)
  // Ironic deletes a node in maintenance in any state.
  if (!record.maintenance) await client.setMaintenance(record.uuid, true)
  await client.deleteNode(record.uuid)
  if (machine) await machines.remove(machine.spec.id)
}

/** Lengths of the conductor's queues. */
function queueLengths({ effects, deadlines }: StoreView['records']): { effects: number; deadlines: number } {
  const sum = (queues: Iterable<{ length: number } | { size: number }>): number =>
    [...queues].reduce((total, queue) => total + ('size' in queue ? queue.size : queue.length), 0)
  return { effects: sum(effects.values()), deadlines: sum(deadlines.values()) }
}
