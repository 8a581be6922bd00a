import type { Clock, Logger, Random } from '../../runtime/index.js'
import type { HardwareManager } from '../../steps/index.js'
import type { DeploymentEvent } from './deployment-events.js'

/** What is asked of any deployment, whatever its machine is, and who hears of it. */
export interface DeploymentRequest {
  /** Bytes of an Ignition config. */
  ignition: Uint8Array
  /** Whether a config that Ignition would refuse at first boot is refused at once; true unless told otherwise. */
  checkIgnition?: boolean
  appendKargs?: readonly string[]
  deleteKargs?: readonly string[]
  /** What the machine's agent offers; the standard managers unless told otherwise. */
  managers?: readonly HardwareManager[]
  clock: Clock
  random: Random
  logger: Logger
  signal: AbortSignal
  onEvent: (event: DeploymentEvent) => void
}
