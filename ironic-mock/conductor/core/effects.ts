import type {
  CommandResult,
  InspectionRuleRecord,
  JsonObject,
  ManagerVersions,
  PowerState,
  RequestedStep,
  StepInterface,
  StepKind,
  AdvertisedStep,
} from '../../../wire/index.js'
import type { Continuation } from './continuation.js'
import type { BootSource } from '../../drivers/bmc.js'
import type { BmcChange, HardwareReport } from '../../drivers/hardware.js'
import type { SystemReport } from '../../drivers/hardware.js'
import type { FoundImage } from '../../drivers/images.js'

export type PowerTarget = 'power on' | 'power off' | 'rebooting' | 'soft power off' | 'soft rebooting'

/** Work outside the database. Every kind is safe to run again: it reads before it acts, or acting twice is the same. */
export type EffectBody =
  | { kind: 'read-power' }
  /** `boot` is set before. `timeout` in milliseconds. */
  | { kind: 'power'; target: PowerTarget; boot?: BootSource; timeout?: number }
  | { kind: 'boot'; source: BootSource }
  /** What inspection has to know of the rest of the database. */
  | { kind: 'inspection-facts'; addresses: string[] }
  /** A GET that an inspection rule asks for; `timeout` in milliseconds. */
  | { kind: 'api-call'; url: string; headers: Record<string, string>; timeout: number }
  /** What the BMC tells of its machine, with the same. */
  | { kind: 'bmc-system' }
  | { kind: 'agent-steps'; of: StepKind }
  | { kind: 'agent-commands' }
  /** With `configdrive` the step gets the node's among its arguments, as the image that an agent takes. */
  | { kind: 'agent-step'; of: StepKind; step: RequestedStep; configdrive?: true }
  | { kind: 'agent-power-off' }
  | { kind: 'agent-logs' }
  /** Tells the agent of a rescue ramdisk the (hashed) password of `instance_info`. */
  | { kind: 'agent-rescue' }
  /** Waits for the agent to have powered the machine off, and does it the hard way when it has not. */
  | { kind: 'await-power-off' }
  /** What an image's URL leads to. */
  | { kind: 'find-image'; url: string; digest: boolean }
  | { kind: 'agent-partitions' }
  /** Waits until the agent has done it. */
  | { kind: 'agent-bootloader'; root: string | null; efi: string | null; bootMode: string }
  | { kind: 'agent-sync' }
  | { kind: 'agent-lockdown' }
  /** A step on all child nodes, or those that it names, one after the other. */
  | { kind: 'child-step'; step: JsonObject }
  /** Lets time pass. */
  | { kind: 'pause'; ms: number }
  /** What the BMC says of the machine's firmware; null when it says nothing. It never fails. */
  | { kind: 'hardware-report' }
  | { kind: 'bmc-change'; change: BmcChange }
  /** Nothing to do outside: gives way, so that the state shows as it does in Ironic, where a worker takes over. */
  | { kind: 'proceed' }

export type EffectKind = EffectBody['kind']

/** For hooks and rules. */
export interface InspectionFacts {
  /** Of the addresses in question those that a port of any node has. */
  taken: string[]
  rules: InspectionRuleRecord[]
  /** The inventory of the inspection before. */
  before: JsonObject | null
}

/** Steps by the interface that owns them, as `driver_internal_info` caches them. */
export type CachedSteps = Partial<Record<StepInterface, CachedStep[]>>
export type CachedStep = AdvertisedStep & { requires_ramdisk?: boolean }

export interface EffectValues {
  /** null when the power was never set: `fake-hardware` knows no more. */
  'read-power': PowerState | null
  power: PowerState
  boot: null
  'inspection-facts': InspectionFacts
  'api-call': null
  /** Null when the BMC does not tell. */
  'bmc-system': (InspectionFacts & { report: SystemReport }) | null
  'agent-steps': { steps: CachedSteps; versions: ManagerVersions }
  'agent-commands': { names: string[]; last: CommandResult | null }
  'agent-step': CommandResult
  'agent-power-off': null
  'agent-logs': null
  'agent-rescue': CommandResult
  'await-power-off': PowerState
  'find-image': FoundImage
  /** By IPA's names; empty for an image of a whole disk. */
  'agent-partitions': JsonObject
  'agent-bootloader': null
  'agent-sync': null
  'agent-lockdown': null
  'child-step': null
  pause: null
  'hardware-report': HardwareReport | null
  'bmc-change': null
  proceed: null
}

/** Why an effect failed, as far as a flow tells the reasons apart. */
export type FailureReason = 'agent busy' | 'agent unreachable' | 'agent error' | 'bmc' | 'other'

export type Outcome =
  | { [K in EffectKind]: { ok: true; kind: K; value: EffectValues[K] } }[EffectKind]
  | { ok: false; kind: EffectKind; reason: FailureReason; error: string }

/** @throws Error when the outcome is of another effect, or a failure: a defect of the flow */
export function valueOf<K extends EffectKind>(outcome: Outcome, kind: K): EffectValues[K] {
  if (!outcome.ok || outcome.kind !== kind) throw new Error(`expected what ${kind} gives, not ${outcome.kind}`)
  return outcome.value as EffectValues[K]
}

/**
 * A queued effect with the rest of its chain. The flow continues after the last effect or the first failure, with `memo`
 * as its data. A node has one job at most, exactly while it is reserved.
 */
export interface Job {
  effect: EffectBody
  rest: EffectBody[]
  then: Continuation
  memo: JsonObject
}
