import type { Machines } from '../../machine/index.js'
import { findNodeMachine } from '../bmcs/bmcs.js'
import type { CurrentDatabase } from './stage-database.js'
import type { NodeDirectory } from './observation.js'
import type { ReservationGate } from './reservation-gate.js'

/** The nodes of a stage's Ironic, with the machines that they use. */
export function nodesIn(
  database: CurrentDatabase,
  reservations: ReservationGate,
  machines: () => Machines,
): NodeDirectory {
  return {
    node: (ident) => {
      const { nodes, nodesByName } = database.records
      return (nodes.get(ident) ?? nodes.get(nodesByName.get(ident) ?? ''))?.record
    },
    nodeOf: (machine) => database.records.nodes.get(reservations.nodeOf(machine) ?? '')?.record,
    machineOf: (record) => findNodeMachine(record, machines())?.spec.id,
    list: () => [...database.records.nodes.values()].map(({ record }) => record),
  }
}
