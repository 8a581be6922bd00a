import type { JsonObject } from '../../../base/wire/index.js'
import type { Heartbeat, ProvisionRequest } from './conductor.js'
import type { HardwareRequest } from '../hardware/hardware-request.js'
import type { Job, EffectOutcome, PowerTarget } from './effects.js'
import type { HardwareReport } from '../../drivers/bmc-hardware.js'

/** Time limits that a node can be under. */
export type DeadlineKind =
  'inspect callback' | 'clean callback' | 'deploy callback' | 'service callback' | 'rescue callback'

/** Power of a machine as its BMC reports it, or the error of the BMC. */
export type SeenPower = { power: 'power on' | 'power off' } | { power: 'error' | null; error: string }

/** All events of a node. */
export type ConductorEvent =
  /** `imageIsBootc` is what the registry of the image says, if `autodetect` has to know. */
  | { kind: 'verb'; request: ProvisionRequest; imageIsBootc: boolean }
  | { kind: 'power'; target: PowerTarget; timeout: number | null }
  | { kind: 'maintenance'; on: boolean; reason: string | null }
  /** `token` becomes the agent's when it has none yet; null when the agent cannot take one. */
  | { kind: 'lookup'; token: string | null }
  | { kind: 'heartbeat'; heartbeat: Heartbeat }
  | { kind: 'inventory'; data: JsonObject; token: string | null }
  | { kind: 'hardware'; request: HardwareRequest }
  | { kind: 'outcome'; job: Job; outcome: EffectOutcome }
  | { kind: 'deadline'; deadline: DeadlineKind }
  /** The reservation has ended, and a heartbeat came while it lasted. */
  | { kind: 'released' }
  /** A conductor has taken the node over from another or an earlier one; `goesOn` when that had stopped its work in order. */
  | { kind: 'restarted'; job: Job | null; goesOn: boolean }
  /**
   * Result of the power sync; `attempt` counts checks in a row that found a wrong power state. `report` is the BMC's
   * hardware report.
   */
  | { kind: 'power-seen'; seen: SeenPower; attempt: number; report?: HardwareReport | null }
  /** The BMC of a node with a power failure answers again. */
  | { kind: 'power-recovered'; power: 'power on' | 'power off' }
