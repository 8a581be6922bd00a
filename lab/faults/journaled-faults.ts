import type { JournalRecorder } from '../journal/record.js'
import type { AddedFault, Fault, FaultChange, LabFaults } from '../../control/index.js'

/**
 * The same faults, whose adding and lifting is in the journal.
 *
 * @param changing called when a fault was added, and before one is lifted
 */
export function journaledFaults(
  faults: LabFaults,
  recorder: JournalRecorder,
  changing: (change: FaultChange) => void,
): LabFaults {
  const note = (what: 'added' | 'lifted', id: string): void => {
    const found = faults.get(id)
    if (found) recorder.fault(what, found)
  }
  const lift = (id: string): boolean => {
    note('lifted', id)
    changing({ do: 'lift fault', id })
    return faults.lift(id)
  }
  const noted = ({ id }: AddedFault, fault: Fault): AddedFault => {
    note('added', id)
    changing({ do: 'add fault', fault })
    return { id, [Symbol.dispose]: () => void lift(id) }
  }
  return {
    list: () => faults.list(),
    get: (id) => faults.get(id),
    lift,
    add: (fault) => noted(faults.add(fault), fault),
    addAll: (all) => faults.addAll(all).map((added, index) => noted(added, all[index]!)),
    clear: (label) => {
      for (const { id, label: own } of faults.list()) if (label === undefined || own === label) lift(id)
    },
  }
}
