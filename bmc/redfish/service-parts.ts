import type { Machine } from '../../machine/index.js'
import type { Clock, Logger, Probe, Random } from '../../base/runtime/index.js'
import type { RedfishCredentials, RedfishAccounts } from './access/redfish-credentials.js'
import type { Sessions } from './access/redfish-sessions.js'
import type { ServedMachines } from './served-machines.js'
import type { EventHub } from './events/event-hub.js'
import type { Routes } from './protocol/resource-routes.js'
import type { Tasks } from './tasks/tasks.js'

/**
 * Fetches an image of firmware.
 *
 * @throws Error with the reason why it could not be fetched
 */
export type FetchFirmware = (
  url: string,
  options: { signal: AbortSignal; account?: { username: string; password: string } },
) => Promise<void>

/** Parts that all resources use. */
export interface ServiceParts {
  readonly machines: ServedMachines
  readonly accounts: RedfishAccounts
  readonly sessions: Sessions
  readonly tasks: Tasks
  readonly events: EventHub
  /** Milliseconds of lab time that an update of firmware takes. */
  readonly updateTime: number
  readonly fetchFirmware?: FetchFirmware
  /** Aborted when the service ends. */
  readonly closing: AbortSignal
  readonly clock: Clock
  readonly random: Random
  readonly probe: Probe
  readonly logger: Logger
  readonly routes: Routes
  /** UUID of the service. */
  readonly uuid: string
  /** True if a change of a resource needs an If-Match header. */
  readonly requiresIfMatch: boolean
  /** The machines that a caller's credentials open. */
  visible(caller: RedfishCredentials): Machine[]
  /** True if a caller's credentials open a machine; a machine without an account stays without. */
  sees(machine: Machine, caller: RedfishCredentials): boolean
}
