import type { Machine } from '../../machine/index.js'

/** The machines of a service. */
export interface ServedMachines {
  get(id: string): Machine | undefined
  list(): readonly Machine[]
}
