import type { JsonObject } from '../../../wire/index.js'
import type { Heartbeat, ProvisionRequest } from './conductor.js'
import type { HardwareRequest } from '../power/hardware-request.js'
import type { Job, Outcome, PowerTarget } from './effects.js'
import type { HardwareReport } from '../../drivers/hardware.js'

/** Time limits that a node can be under. */
export type DeadlineKind =
  'inspect callback' | 'clean callback' | 'deploy callback' | 'service callback' | 'rescue callback'

/** The power of a machine as its BMC reports it; `error` says why it does not. */
export type SeenPower = { power: 'power on' | 'power off' } | { power: 'error' | null; error: string }

/** Everything that can happen to a node. */
export type ConductorEvent =
  | { kind: 'verb'; request: ProvisionRequest }
  | { kind: 'power'; target: PowerTarget; timeout: number | null }
  | { kind: 'maintenance'; on: boolean; reason: string | null }
  /** `token` is the one to hand out if there is none yet; null where the agent cannot take one. */
  | { kind: 'lookup'; token: string | null }
  | { kind: 'heartbeat'; heartbeat: Heartbeat }
  | { kind: 'inventory'; data: JsonObject; token: string | null }
  | { kind: 'hardware'; request: HardwareRequest }
  | { kind: 'outcome'; job: Job; outcome: Outcome }
  | { kind: 'deadline'; deadline: DeadlineKind }
  /** The reservation has ended, and a heartbeat came while it lasted. */
  | { kind: 'released' }
  /** A conductor has started and found the node in its database. */
  | { kind: 'restarted'; job: Job | null }
  /**
   * What the periodic look at the machine's power showed; `attempt` counts looks that found something wrong. `report` is
   * what the BMC tells besides.
   */
  | { kind: 'power-seen'; seen: SeenPower; attempt: number; report?: HardwareReport | null }
  /** The power of a node that is out of service for it can be read again. */
  | { kind: 'power-recovered'; power: 'power on' | 'power off' }
