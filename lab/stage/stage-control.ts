import { deadlinesOf, missingPort, stepPlan, type Guard } from '../../ironic-mock/index.js'
import type { HardwareFleet, Machines, MachineSpec } from '../../machine/index.js'
import { defined, type Clock, type Logger, type Probe } from '../../base/runtime/index.js'
import type { Dispatch, IronicClient, NodeRecord } from '../../base/wire/index.js'
import type { BmcAccount } from '../bmcs/bmc-accounts.js'
import { bmcAddressOf, findNodeMachine } from '../bmcs/bmcs.js'
import { ClockControl } from '../control/clock-control.js'
import { controlApi } from '../control/control-api.js'
import { controlHandlers, type ControlParts } from '../control/handlers.js'
import { machineChanges } from '../control/machine-changes.js'
import type { Events } from '../lab-events.js'
import type { LiveImages } from '../images/live-images.js'
import { Metrics } from '../metrics/metrics.js'
import { withPage } from '../page/dashboard-page.js'
import type { CurrentDatabase } from './stage-database.js'
import { makeIdentities, seedIsUsed, type MachineIdentity } from './identities.js'
import type { Observation } from './observation.js'

/** Puts the control API of a stage beside Ironic's. */
export function withControl(parts: {
  observation: Observation
  clock: Clock
  probe: Probe
  events: Events
  logger: Logger
  machines: Machines
  database: CurrentDatabase
  setAccount: (address: string, account: BmcAccount) => void
  live: LiveImages | undefined
  guard: Guard | undefined
  client: () => IronicClient
  snapshots: ControlParts['snapshots']
  /** Specification of the machine of a number. */
  spec: (number: number, hardware: HardwareFleet | undefined, identity?: MachineIdentity) => MachineSpec
  enroll: (spec: MachineSpec, fields: Record<string, unknown>) => Promise<string>
  /** Whether the dashboard is served. */
  page: boolean | undefined
}): (api: Dispatch) => Dispatch {
  const { observation, clock, events, logger, machines, database, live, guard, client } = parts
  const { faults, journal, recorder, node } = observation
  /** Identities for new machines. @throws UserError `bad-request` for a seed whose nodes are there */
  const seeded = (seed: number, count: number): MachineIdentity[] => {
    const macs = new Set(machines.list().flatMap(({ spec }) => spec.nics.map(({ mac }) => mac)))
    const next = makeIdentities(seed, (mac) => macs.has(mac))
    const all = Array.from({ length: count }, next)
    for (const { uuid } of all) if (node(uuid)) throw seedIsUsed(seed, uuid)
    return all
  }
  const handlers = controlHandlers({
    machines,
    faults,
    journal,
    node,
    snapshots: parts.snapshots,
    probe: parts.probe,
    time: clock,
    outlook: (record) => ({
      deadlines: deadlinesOf(database.records, record.uuid),
      plan: stepPlan(record, database.records),
    }),
    clock: new ClockControl({ clock, events, node, note: (what) => recorder.lab(what) }),
    nodes: () => [...database.records.nodes.values()].map(({ record }) => record),
    machineOf: (record) => findNodeMachine(record, machines),
    enroll: async ({ count, prefix, hardware, seed }) => {
      const added: Readonly<NodeRecord>[] = []
      const own = seed === undefined ? undefined : seeded(seed, count)
      // The next numbers that are free.
      for (let number = 1; added.length < count; number++) {
        const identity = own?.[added.length]
        const spec = parts.spec(number, hardware, identity)
        const name = `${prefix}${number - 1}`
        if (machines.get(spec.id) || node(name)) continue
        const fields = { name, ...defined({ uuid: identity ? identity.uuid : undefined }) }
        added.push(node(await parts.enroll(spec, fields))!)
      }
      return added
    },
    removeNode: async (record) => {
      const machine = findNodeMachine(record, machines)
      // Ironic deletes a node in maintenance in any state.
      if (!record.maintenance) await client().setMaintenance(record.uuid, true)
      await client().deleteNode(record.uuid)
      if (machine) await machines.remove(machine.spec.id)
    },
    removeMachine: (id) => machines.remove(id),
    ...machineChanges(machines, { spec: parts.spec }),
    setAccountOf: ({ spec }, account) => {
      if (spec.bmc) parts.setAccount(spec.bmc.address, account)
    },
    images: (record) => live?.urlsOf(record),
    waitsFor: (record) => missingPort(record, database.records.portsOf(record.uuid)),
    setBmcAccount: (record, account) => {
      const address = bmcAddressOf(record)
      if (address !== undefined) parts.setAccount(address, account)
      return address !== undefined
    },
  })
  const metrics = new Metrics({
    clock,
    machines,
    faults,
    journal,
    strikes: observation.strikes,
    nodes: () => [...database.records.nodes.values()].map(({ record }) => record),
    queues: () => {
      const { effects, deadlines } = database.records
      const sum = (queues: Iterable<{ length: number } | { size: number }>): number =>
        [...queues].reduce((total, queue) => total + ('size' in queue ? queue.size : queue.length), 0)
      return { effects: sum(effects.values()), deadlines: sum(deadlines.values()) }
    },
  })
  return (api) => {
    const control = metrics.beside(controlApi({ api, handlers, logger, ...defined({ guard }) }), guard)
    return parts.page ? withPage(control) : control
  }
}
