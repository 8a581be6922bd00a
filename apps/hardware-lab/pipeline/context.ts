import type { Clock, Logger, Random } from '../../../base/runtime/index.js'
import type { HardwareManager } from '../../../steps/index.js'
import type { HostBmc } from '../bmc/host-bmc.js'
import type { IronicElsewhere } from '../ironic/ironic-elsewhere.js'
import type { Host } from '../hosts/host.js'
import type { HostAccess } from '../live/host-access.js'
import type { RunEvent } from './run-events.js'
import type { HostRunState, RunFolder } from './run-state.js'

/** Everything that the stages of a host use. */
export interface HostContext {
  readonly host: Host
  readonly state: HostRunState
  readonly folder: RunFolder
  readonly access: HostAccess
  readonly runId: string
  /** Null in a run that works on hosts itself. */
  readonly ironic: IronicElsewhere | null
  /** Opened by the first stage that needs it. */
  bmc(signal: AbortSignal): Promise<HostBmc | null>
  /** Stores the state. Call it before any action that the state records. */
  save(): Promise<void>
  report(event: RunEvent): void
  readonly managers: readonly HardwareManager[] | undefined
  /** Pause between two attempts to reach a system that boots, in milliseconds. */
  readonly every: number
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}
