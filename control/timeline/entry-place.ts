import { defined } from '../../base/runtime/index.js'
import type { EntryHead } from '../journal/entry.js'

/** Where the journal has the entry that something of a timeline was read from. */
export interface EntryPlace {
  /** Its id. */
  entry: number
  /** Name of the process that has counted it. Absent where one process has its database to itself. */
  process?: string
}

export const entryPlace = ({ id, process }: Pick<EntryHead, 'id' | 'process'>): EntryPlace => ({
  entry: id,
  ...defined({ process }),
})
