import type { DumpedResource } from '../../dumps/index.js'
import type { DumpView } from './dump-view.js'

/** A dumped resource behind one that lives. */
export interface DumpedAnswer {
  readonly view: DumpView
  /** Undefined where the dump lacks it. */
  readonly resource: DumpedResource | undefined
  /** True where members of a collection are the service's: several machines are behind it. */
  readonly hasOtherMembers: boolean
}
