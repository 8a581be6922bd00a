import type { Clock, Logger } from '../../base/runtime/index.js'
import type { CallArgs, DocumentOf, Microversion, OperationId, OperationOf } from '../../base/wire/index.js'
import type { Conductor } from '../conductor/core/conductor.js'
import type { StoreView } from '../store/open-store.js'
import type { Store } from '../store/store.js'
import type { Links } from './api-links.js'
import type { NodeSchemas } from './nodes/node-schemas.js'

/** Parts that every handler uses. */
export interface Backend {
  readonly conductor: Conductor
  readonly store: Store & StoreView
  readonly clock: Clock
  readonly logger: Logger
  /** True if an agent may look up a node outside any operation (`[deploy]fast_track`). */
  readonly fastTrack: boolean
  /** Schemas that new and changed nodes must meet. */
  readonly nodeSchemas: NodeSchemas
  /** Newest microversion of the simulated release. */
  readonly newest: Microversion
}

/** One call with its checked arguments and document. */
export interface IronicApiCall<Args = Record<string, unknown>, Document = unknown> {
  readonly args: Args
  /** The checked document of operations that take one. */
  readonly document: Document
  readonly version: Microversion
  readonly links: Links
  /** True if `.json` was removed from the end of the path, as clients before 1.91 may send it. */
  readonly jsonSuffix?: boolean
}

/** Answer of a handler; the status is that of the operation's row. */
export interface Reply {
  /** Absent for an empty body. */
  readonly body?: unknown
  readonly location?: string
  /** Status in place of the operation's, where it depends on the request. */
  readonly status?: 202
}

type CallOf<Id extends OperationId> = IronicApiCall<CallArgs<OperationOf<Id>>, DocumentOf<OperationOf<Id>>>
type Handler<Id extends OperationId> = (call: CallOf<Id>, backend: Backend) => Promise<Reply> | Reply

/** One handler per operation; the compiler reports a missing one. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> }
export type HandlersOf<Id extends OperationId> = { readonly [Each in Id]: Handler<Each> }
