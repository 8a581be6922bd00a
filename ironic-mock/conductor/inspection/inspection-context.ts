import { textOf } from '../../../wire/index.js'
import type { JsonObject, PortRecord } from '../../../wire/index.js'
import type { InspectionPolicy } from './inspection-policy.js'

/** A port while inspection works on it. */
export interface DraftPort {
  address: string
  pxe_enabled: boolean
  extra: JsonObject
  local_link_connection: JsonObject
  physical_network: string | null
  /** Null for one that is still to be made. */
  readonly kept: PortRecord | null
  removed: boolean
}

/** What inspection works on; hooks change it in their order. */
export interface Inspected {
  readonly uuid: string
  readonly policy: InspectionPolicy
  readonly inventory: JsonObject
  /** What the inspection before this one stored. */
  readonly before: JsonObject | null
  /** Addresses that ports of any node have. */
  readonly taken: ReadonlySet<string>
  readonly pluginData: JsonObject
  readonly properties: JsonObject
  readonly ports: DraftPort[]
  readonly warnings: string[]
}

/** Why a hook cannot go on, by the name of Ironic's exception, which its sentences differ by. */
export class HookFailure extends Error {
  override name = 'HookFailure'
  constructor(
    readonly exception: 'HardwareInspectionFailure' | 'InvalidNodeInventory',
    message: string,
  ) {
    super(message)
  }
}

export const invalidInventory = (uuid: string, reason: string): HookFailure =>
  new HookFailure('InvalidNodeInventory', `Inventory for node ${uuid} is invalid: ${reason}`)

export const inspectionFailure = (reason: string): HookFailure =>
  new HookFailure('HardwareInspectionFailure', `Failed to inspect hardware. Reason: ${reason}`)

/** Capabilities as the string that `properties.capabilities` is, with some set. */
export function withCapabilities(current: unknown, more: Readonly<Record<string, unknown>>): string {
  const known = typeof current === 'string' && current !== '' ? current.split(',') : []
  const pairs = new Map<string, unknown>()
  for (const pair of known) {
    const at = pair.indexOf(':')
    if (at < 0) throw new Error(`Invalid capabilities string '${textOf(current)}'.`)
    pairs.set(pair.slice(0, at), pair.slice(at + 1))
  }
  for (const [name, value] of Object.entries(more)) pairs.set(name, value)
  return [...pairs].map(([name, value]) => `${name}:${textOf(value)}`).join(',')
}

export const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

export const listOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null).map(objectOf) : []
