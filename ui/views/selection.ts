import { signal } from '@preact/signals'

/** Ids of the machines that a verb is asked of. */
export const selected = signal<ReadonlySet<string>>(new Set())

export function toggle(id: string): void {
  const next = new Set(selected.value)
  if (!next.delete(id)) next.add(id)
  selected.value = next
}

export const select = (ids: Iterable<string>): void => void (selected.value = new Set(ids))
