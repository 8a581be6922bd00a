import { signal } from '@preact/signals'

/** Ids of the machines that an action applies to. */
export const selectedMachines = signal<ReadonlySet<string>>(new Set())

export function toggleSelection(id: string): void {
  const next = new Set(selectedMachines.value)
  if (!next.delete(id)) next.add(id)
  selectedMachines.value = next
}

export const selectMachines = (ids: Iterable<string>): void => void (selectedMachines.value = new Set(ids))
