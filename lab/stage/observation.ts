import { defined, systemClock, type Clock, type Logger, type Probe } from '../../base/runtime/index.js'
import type { Machines } from '../../machine/index.js'
import { bmcAddressOf, plannedMachineOf } from '../bmcs/bmcs.js'
import type { NodeRecord } from '../../base/wire/index.js'
import type { Events } from '../lab-events.js'
import type { FaultChange, LabFaults } from '../../control/index.js'
import type { FaultContext, HostLabels } from '../faults/fault-context.js'
import { FaultInjector } from '../faults/faults.js'
import { journaledFaults } from '../faults/journaled-faults.js'
import { phaseOf } from '../faults/phase.js'
import { Journal, type JournalOptions } from '../journal/journal.js'
import { JournalRecorder } from '../journal/record.js'
import type { Agents } from './agents.js'

/** The faults of a stage, and its journal. */
export interface Observation {
  faults: LabFaults
  injector: FaultInjector
  journal: Journal
  recorder: JournalRecorder
  /** Times that faults of each effect have struck, also those that were lifted. */
  strikes: ReadonlyMap<string, number>
  /** Finds a node by uuid or name. */
  node: (ident: string) => Readonly<NodeRecord> | undefined
}

/** The nodes of an Ironic, and the machines behind them. */
export interface NodeDirectory {
  /** Finds a node by uuid or name. */
  node(ident: string): Readonly<NodeRecord> | undefined
  /** The node that a machine belongs to. */
  nodeOf(machine: string): Readonly<NodeRecord> | undefined
  /** Machine behind a node. */
  machineOf(node: Readonly<NodeRecord>): string | undefined
  list(): Iterable<Readonly<NodeRecord>>
}

/** Machines whose Ironic is elsewhere. */
export const NO_NODES: NodeDirectory = {
  node: () => undefined,
  nodeOf: () => undefined,
  machineOf: () => undefined,
  list: () => [],
}

interface ObservedParts {
  probe: Probe
  events: Events
  clock: Clock
  logger: Logger
  seed: number
  nodes: NodeDirectory
  /** The nodes that faults know, where these are more. */
  faultNodes?: NodeDirectory
  journal: Pick<JournalOptions, 'capacity' | 'bytes'>
  /** Opened later. */
  machines: () => Machines
  /** Opened later. */
  agents: () => Pick<Agents, 'isInstalling' | 'stepOf' | 'restart'>
  /** Absent where there are no BareMetalHosts. */
  hosts?: HostLabels
  /** Names of the steps that agents have; absent when they are not known. */
  steps?: readonly string[]
  /** True if machines are reached by links that faults can cut. */
  links?: boolean
  /** True if machines have agents. Default true. */
  hasAgents?: boolean
  /** True if faults of other processes come from a database. */
  isShared?: boolean
  /** Called before a caller adds a fault or lifts it. */
  changing: (change: FaultChange) => void
}

/** Attaches faults and the journal to the probe of a stage. */
export function observe(parts: ObservedParts): Observation {
  const { probe, events, clock, nodes } = parts
  const node = (ident: string) => nodes.node(ident)
  const journal = new Journal({ now: () => clock.now(), wallNow: () => systemClock().now(), ...parts.journal })
  const recorder = new JournalRecorder(journal, {
    probe,
    events,
    clock,
    node,
    nodeOf: (machine) => nodes.nodeOf(machine),
    machineOf: (record) => nodes.machineOf(record),
    names: () => [...nodes.list()].map(({ name, uuid }) => name ?? uuid),
  })
  // Nodes of an earlier start have no entries yet.
  journal.activity.recount([...nodes.list()].map(({ uuid, provision_state }) => [uuid, provision_state]))
  const strikes = new Map<string, number>()
  const injector = new FaultInjector(probe, faultContext(parts), (struck, point) => {
    strikes.set(struck.effect.kind, (strikes.get(struck.effect.kind) ?? 0) + 1)
    recorder.struck(struck, point)
  })
  if (parts.journal.capacity !== 0) recorder.begin((point) => injector.at(point))
  const faults = journaledFaults(injector, recorder, parts.changing)
  return { faults, injector, journal, recorder, strikes, node }
}

/** Tells faults what they have to know of nodes, machines and agents. */
function faultContext(parts: ObservedParts): FaultContext {
  const { clock, logger, seed, machines, agents } = parts
  const nodes = parts.faultNodes ?? parts.nodes
  const machineOf = (uuid: string) => {
    const found = nodes.node(uuid)
    return found && (nodes.machineOf(found) ?? plannedMachineOf(found))
  }
  return {
    clock,
    seed,
    node: (ident) => nodes.node(ident),
    nodeOf: (machine) => nodes.nodeOf(machine),
    machineOf,
    disksOf: (machine) =>
      machines()
        .get(machine)
        ?.spec.disks.map(({ name }) => name),
    bmcAddress: ({ machine, node: ident }) => {
      const own = machine === undefined ? undefined : machines().get(machine)?.spec.bmc?.address
      const record = own === undefined && ident !== undefined ? nodes.node(ident) : undefined
      return own ?? (record && bmcAddressOf(record))
    },
    phaseOf: (machine, of) => {
      const user = nodes.nodeOf(machine)
      if (!user) return undefined
      const { uuid, provision_state } = of ?? user
      return phaseOf(provision_state, user.uuid === uuid && agents().isInstalling(machine))
    },
    stepOf: (machine) => agents().stepOf(machine),
    ...defined({ hosts: parts.hosts, steps: parts.steps, links: parts.links, isShared: parts.isShared }),
    hasAgents: parts.hasAgents ?? true,
    hasNodes: parts.nodes !== NO_NODES,
    restartAgent: (machine) => agents().restart(machine),
    cutPower: (machine) =>
      void machines()
        .get(machine)
        ?.setPower('off')
        .catch((error: unknown) => logger('warn', 'a machine did not lose its power', { machine, error })),
  }
}
