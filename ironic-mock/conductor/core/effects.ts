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
} from '../../../base/wire/index.js'
import type { Continuation } from './continuation.js'
import type { BootMedia, BootSource } from '../../drivers/bmc.js'
import type { BmcChange, HardwareReport, SystemReport } from '../../drivers/bmc-hardware.js'
import type { FoundImage } from './find-images.js'
import type { ImageChecksum } from './image-checksum.js'

export type PowerTarget = 'power on' | 'power off' | 'rebooting' | 'soft power off' | 'soft rebooting'

/** Work outside the database. Every kind is safe to run again: it reads before it acts, or is idempotent. */
export type EffectBody =
  | { kind: 'read-power' }
  /** `boot` is set, with its media, before the power changes. `timeout` in milliseconds. */
  | { kind: 'power'; target: PowerTarget; boot?: BootSource; media?: BootMedia; timeout?: number }
  | { kind: 'boot'; source: BootSource; media?: BootMedia }
  /** Reads records of other nodes that inspection needs. */
  | { kind: 'inspection-facts'; addresses: string[] }
  /** Sends the GET of an inspection rule; `timeout` in milliseconds. */
  | { kind: 'api-call'; url: string; headers: Record<string, string>; timeout: number }
  /** Reads the machine's hardware from its BMC, with the inspection facts. */
  | { kind: 'bmc-system' }
  | { kind: 'agent-steps'; of: StepKind }
  | { kind: 'agent-commands' }
  /** With `configdrive` the node's config drive is added to the step's arguments, as an image. */
  | { kind: 'agent-step'; of: StepKind; step: RequestedStep; configdrive?: true }
  | { kind: 'agent-power-off' }
  | { kind: 'agent-logs' }
  /** Sends the (hashed) password of `instance_info` to the agent of a rescue ramdisk. */
  | { kind: 'agent-rescue' }
  /** Waits until the agent has powered the machine off; powers it off by the BMC when it has not. */
  | { kind: 'await-power-off' }
  /** Reads the metadata of an image. */
  | { kind: 'find-image'; url: string; digest: boolean; checksum?: ImageChecksum }
  | { kind: 'agent-partitions' }
  /** Installs a boot loader, and waits for the end of the command. */
  | { kind: 'agent-bootloader'; root: string | null; efi: string | null; bootMode: string }
  | { kind: 'agent-sync' }
  | { kind: 'agent-lockdown' }
  /** Runs a step on all child nodes, or those that it names, one after the other. */
  | { kind: 'child-step'; step: JsonObject }
  /** Waits. */
  | { kind: 'pause'; ms: number }
  /** Reads BIOS settings and firmware from the BMC; null when it has none. It never fails. */
  | { kind: 'hardware-report' }
  | { kind: 'bmc-change'; change: BmcChange }
  /** Does nothing, so that clients can see the state before the flow continues, as in Ironic, whose worker starts then. */
  | { kind: 'proceed' }
  /** Fails, so that the flow ends where Ironic finds the problem: in its worker, and not in the request. */
  | { kind: 'refuse'; error: string }

export type EffectKind = EffectBody['kind']

/** Facts for the hooks and rules of inspection. */
export interface InspectionFacts {
  /** MAC addresses of the inventory that a port of any node has already. */
  taken: string[]
  rules: InspectionRuleRecord[]
  /** Inventory of the last inspection. */
  before: JsonObject | null
}

/** Steps by the interface that owns them, as `driver_internal_info` caches them. */
export type CachedSteps = Partial<Record<StepInterface, CachedStep[]>>
export type CachedStep = AdvertisedStep & { requires_ramdisk?: boolean }

export interface EffectValues {
  /** Null for a `fake-hardware` node whose power was never set. */
  'read-power': PowerState | null
  power: PowerState
  boot: null
  'inspection-facts': InspectionFacts
  'api-call': null
  /** Null when the BMC reports no hardware. */
  'bmc-system': (InspectionFacts & { report: SystemReport }) | null
  'agent-steps': { steps: CachedSteps; versions: ManagerVersions }
  'agent-commands': { names: string[]; last: CommandResult | null }
  'agent-step': CommandResult
  'agent-power-off': null
  'agent-logs': null
  'agent-rescue': CommandResult
  'await-power-off': PowerState
  'find-image': FoundImage
  /** Partition UUIDs by IPA's names; empty for a whole-disk image. */
  'agent-partitions': JsonObject
  'agent-bootloader': null
  'agent-sync': null
  'agent-lockdown': null
  'child-step': null
  pause: null
  'hardware-report': HardwareReport | null
  'bmc-change': null
  proceed: null
  refuse: null
}

/** Reason of a failed effect, as far as flows distinguish reasons. */
export type FailureReason = 'agent busy' | 'agent unreachable' | 'agent error' | 'bmc' | 'other'

export type EffectOutcome =
  | { [K in EffectKind]: { ok: true; kind: K; value: EffectValues[K] } }[EffectKind]
  | { ok: false; kind: EffectKind; reason: FailureReason; error: string }

/** @throws Error when the outcome is of another effect, or a failure: a defect of the flow */
export function valueOf<K extends EffectKind>(outcome: EffectOutcome, kind: K): EffectValues[K] {
  if (!outcome.ok || outcome.kind !== kind) throw new Error(`expected the result of ${kind}, not of ${outcome.kind}`)
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
