import type { Clock, Logger, Random } from '../../../base/runtime/index.js'
import type { NodeDetails } from '../../../report/index.js'
import type { HardwareManager } from '../../../steps/index.js'
import type { DeploymentEvent } from './deployment-events.js'

/** Options that all deployments have, simulated or real. */
export interface DeploymentRequest {
  /** Bytes of an Ignition config. */
  ignition: Uint8Array
  /** True to refuse a config at once that Ignition would refuse at first boot; default true. */
  checkIgnition?: boolean
  appendKargs?: readonly string[]
  deleteKargs?: readonly string[]
  /** Hardware managers of the machine's agent; default the standard ones. */
  managers?: readonly HardwareManager[]
  clock: Clock
  random: Random
  logger: Logger
  signal: AbortSignal
  onEvent: (event: DeploymentEvent) => void
  /** Called at the end, also of a deployment that failed, with what happened to its node. Default: nothing is collected. */
  onDetails?: (details: NodeDetails) => void
}
