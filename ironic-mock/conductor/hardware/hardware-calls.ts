import type { BiosSettingRecord, FirmwareComponentRecord, JsonObject, MediaDevice } from '../../../base/wire/index.js'
import type { BootMode, Indicators, VirtualMedium } from '../../drivers/bmc-hardware.js'
import type { ShownVendorMethod } from '../../drivers/hardware-type.js'

/** A call of a vendor method: its name, the HTTP method and the body. */
export interface VendorCall {
  readonly method: string
  readonly http: string
  readonly data: unknown
}

/**
 * Calls of the API for a node's hardware. A change resolves once the node is reserved for it, and a failure goes to
 * `last_error`. Reads go to the BMC at once.
 */
export interface HardwareCalls {
  setBootMode(uuid: string, mode: BootMode): Promise<void>
  setSecureBoot(uuid: string, on: boolean): Promise<void>
  attachMedia(uuid: string, device: MediaDevice, url: string): Promise<void>
  /** Null detaches all media. */
  detachMedia(uuid: string, devices: readonly MediaDevice[] | null): Promise<void>
  media(uuid: string): Promise<readonly VirtualMedium[]>
  injectNmi(uuid: string): Promise<void>
  indicators(uuid: string): Promise<Indicators>
  indicator(uuid: string, component: string, name: string): Promise<string>
  setIndicator(uuid: string, component: string, name: string, state: string): Promise<void>
  setConsole(uuid: string, on: boolean): Promise<void>
  /** Null while the console is disabled. */
  console(uuid: string): Promise<JsonObject | null>
  vendorMethods(uuid: string): Promise<Readonly<Record<string, ShownVendorMethod>>>
  /** `isSync` is true when `value` is the result; an asynchronous method has only started. */
  callVendor(uuid: string, call: VendorCall): Promise<{ isSync: boolean; value: unknown }>
  bios(uuid: string): Promise<BiosSettingRecord[]>
  firmware(uuid: string): Promise<FirmwareComponentRecord[]>
}
