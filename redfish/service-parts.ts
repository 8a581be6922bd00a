import type { Machine } from '../machine/index.js'
import type { Clock, Logger, Probe, Random } from '../runtime/index.js'
import type { Credentials, RedfishAccounts } from './access/credentials.js'
import type { Sessions } from './access/sessions.js'

/** The machines of a service. */
export interface ServedMachines {
  get(id: string): Machine | undefined
  list(): readonly Machine[]
}

/** Parts that all resources use. */
export interface ServiceParts {
  readonly machines: ServedMachines
  readonly accounts: RedfishAccounts
  readonly sessions: Sessions
  readonly clock: Clock
  readonly random: Random
  readonly probe: Probe
  readonly logger: Logger
  /** UUID of the service. */
  readonly uuid: string
  /** Whether a change of a resource needs an If-Match header. */
  readonly requiresIfMatch: boolean
  /** The machines that a caller's credentials open. */
  visible(caller: Credentials): Machine[]
}
