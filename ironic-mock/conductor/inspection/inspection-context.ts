import { isObject } from '../../../base/runtime/index.js'
import { formatClientValue } from '../../../base/wire/index.js'
import type { CollectedTlv, JsonObject, PortRecord } from '../../../base/wire/index.js'
import type { InspectionConf } from './inspection-conf.js'

/** A port during inspection; hooks and rules change it. */
export interface DraftPort {
  address: string
  pxe_enabled: boolean
  extra: JsonObject
  local_link_connection: JsonObject
  physical_network: string | null
  /** The stored record; null for a new port. */
  readonly stored: PortRecord | null
  removed: boolean
}

/** Data of an inspection; hooks change it in their order. */
export interface Inspected {
  readonly uuid: string
  readonly conf: InspectionConf
  readonly inventory: JsonObject
  /** Inventory of the last inspection. */
  readonly before: JsonObject | null
  /** MAC addresses that a port of any node has already. */
  readonly taken: ReadonlySet<string>
  readonly pluginData: JsonObject
  readonly properties: JsonObject
  readonly ports: DraftPort[]
  readonly warnings: string[]
}

/** Failure of a hook, with the name of Ironic's exception, on which upstream's sentence depends. */
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

/** Sets capabilities in the string of `properties.capabilities`. */
export function withCapabilities(current: unknown, more: Readonly<Record<string, unknown>>): string {
  const known = typeof current === 'string' && current !== '' ? current.split(',') : []
  const pairs = new Map<string, unknown>()
  for (const pair of known) {
    const at = pair.indexOf(':')
    if (at < 0) throw new Error(`Invalid capabilities string '${formatClientValue(current)}'.`)
    pairs.set(pair.slice(0, at), pair.slice(at + 1))
  }
  for (const [name, value] of Object.entries(more)) pairs.set(name, value)
  return [...pairs].map(([name, value]) => `${name}:${formatClientValue(value)}`).join(',')
}

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

export const objectsOfList = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null).map(objectOf) : []

/** TLVs of an interface: of `lldp_raw` of the plugin data, or else of the interface itself; undefined without either. */
export function collectedTlvs(pluginData: JsonObject, item: JsonObject): readonly CollectedTlv[] | undefined {
  const raw = objectOf(pluginData.lldp_raw)[formatClientValue(item.name)]
  // Python takes an empty list for none.
  const found = Array.isArray(raw) && raw.length > 0 ? raw : item.lldp
  if (!Array.isArray(found)) return undefined
  return found.filter(
    (tlv): tlv is CollectedTlv => Array.isArray(tlv) && typeof tlv[0] === 'number' && typeof tlv[1] === 'string',
  )
}
