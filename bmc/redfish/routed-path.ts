import type { Machine } from '../../machine/index.js'
import type { DumpedAnswer } from './dumps/dumped-answer.js'
import type { RedfishResource } from './protocol/resource.js'

/** A resource that a path leads to. */
export interface RoutedPath {
  readonly resource: RedfishResource
  readonly params: Record<string, string>
  /** Undefined for a resource of the service, and for a machine that is not there. */
  readonly machine?: Machine
  /** The dump that its BMC answers with. */
  readonly dumped?: DumpedAnswer
}
