import { systemClock, type Clock, type Logger, type Probe } from '../../runtime/index.js'
import type { Machines } from '../../machine/index.js'
import type { NodeRecord } from '../../wire/index.js'
import { machineOf } from '../bmcs/bmcs.js'
import type { Events } from '../events.js'
import type { FaultChange, Faults } from '../faults/fault.js'
import { FaultInjector } from '../faults/faults.js'
import { notedFaults } from '../faults/noted-faults.js'
import { phaseOf } from '../faults/phase.js'
import { Journal, type JournalOptions } from '../journal/journal.js'
import { recordInto, type Recorder } from '../journal/record.js'
import type { Agents } from './agents.js'
import type { CurrentDatabase } from './database.js'
import type { ReservationGate } from './reservation-gate.js'

/** The faults of a stage, and its journal. */
export interface Observation {
  faults: Faults
  injector: FaultInjector
  journal: Journal
  recorder: Recorder
  /** Times that faults of each effect have struck, also those that were lifted. */
  strikes: ReadonlyMap<string, number>
  /** Finds a node by uuid or name. */
  node: (ident: string) => Readonly<NodeRecord> | undefined
}

/** Attaches faults and the journal to the probe of a stage. Machines and agents are asked for later. */
export function observe(parts: {
  probe: Probe
  events: Events
  clock: Clock
  logger: Logger
  seed: number
  database: CurrentDatabase
  reservations: ReservationGate
  journal: Pick<JournalOptions, 'capacity' | 'bytes'>
  machines: () => Machines
  agents: () => Agents
  /** Called before a caller adds a fault or lifts it. */
  changing: (change: FaultChange) => void
}): Observation {
  const { probe, events, clock, logger, seed, database, reservations, machines, agents } = parts
  const node = (ident: string): Readonly<NodeRecord> | undefined => {
    const { nodes, nodesByName } = database.records
    return (nodes.get(ident) ?? nodes.get(nodesByName.get(ident) ?? ''))?.record
  }
  const nodeOf = (machine: string): Readonly<NodeRecord> | undefined =>
    database.records.nodes.get(reservations.nodeOf(machine) ?? '')?.record
  const machineBehind = (record: Readonly<NodeRecord>): string | undefined => machineOf(record, machines())?.spec.id
  const strikes = new Map<string, number>()
  const injector = new FaultInjector(
    probe,
    {
      ...{ clock, seed, node, nodeOf },
      machineOf: (uuid) => {
        const found = node(uuid)
        return found && machineBehind(found)
      },
      phaseOf: (machine) => {
        const found = nodeOf(machine)
        return found && phaseOf(found.provision_state, agents().isInstalling(machine))
      },
      stepOf: (machine) => agents().stepOf(machine),
      restartAgent: (machine) => agents().restart(machine),
      cutPower: (machine) =>
        void machines()
          .get(machine)
          ?.setPower('off')
          .catch((error: unknown) => logger('warn', 'a machine did not lose its power', { machine, error })),
    },
    (struck, point) => {
      strikes.set(struck.effect.kind, (strikes.get(struck.effect.kind) ?? 0) + 1)
      recorder.struck(struck, point)
    },
  )
  const journal = new Journal({ now: () => clock.now(), wallNow: () => systemClock().now(), ...parts.journal })
  const recorder = recordInto(journal, {
    ...{ probe, events, clock, node, nodeOf, machineOf: machineBehind },
    names: () => [...database.records.nodes.values()].map(({ record }) => record.name ?? record.uuid),
    faultAt: (point) => injector.at(point),
  })
  const faults = notedFaults(injector, recorder, parts.changing)
  return { faults, injector, journal, recorder, strikes, node }
}
