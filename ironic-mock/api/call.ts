import type { Clock, Logger } from '../../runtime/index.js'
import type { ArgsOf, Microversion, OperationId, OperationOf } from '../../wire/index.js'
import type { Conductor } from '../conductor/core/conductor.js'
import type { StoreView } from '../store/open-store.js'
import type { Store } from '../store/store.js'
import type { Links } from './links.js'

/** What the handlers work with; the same for every call. */
export interface Backend {
  readonly conductor: Conductor
  readonly store: Store & StoreView
  readonly clock: Clock
  readonly logger: Logger
  /** Whether an agent may look its node up although nothing is under way (`[deploy]fast_track`). */
  readonly fastTrack: boolean
  /** When this API began to serve, in the record's form; what the conductor's entry shows as its creation. */
  readonly startedAt: string
  /** The newest microversion of the release that answers. */
  readonly newest: Microversion
}

/** One call, its arguments read and its document checked. */
export interface Call<Args = Record<string, unknown>> {
  readonly args: Args
  /** The checked document of operations that take one. */
  readonly document: unknown
  readonly version: Microversion
  readonly links: Links
  /** `.json` was cut off the path, as clients before 1.91 may end it. */
  readonly jsonSuffix?: boolean
}

/** What is answered, with the status that the operation's row gives. */
export interface Reply {
  /** Absent: an empty body. */
  readonly body?: unknown
  readonly location?: string
  /** Instead of the operation's, where it depends on what was asked for. */
  readonly status?: 202
}

export type CallOf<Id extends OperationId> = Call<ArgsOf<OperationOf<Id>>>
export type Handler<Id extends OperationId> = (call: CallOf<Id>, backend: Backend) => Promise<Reply> | Reply

/** A handler for every row of the operations; the compiler misses the one that is missing. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> }
export type HandlersOf<Id extends OperationId> = { readonly [Each in Id]: Handler<Each> }
