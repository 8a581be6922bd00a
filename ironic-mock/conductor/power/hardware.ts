import type { BiosSettingRecord, FirmwareComponentRecord, JsonObject, MediaDevice } from '../../../wire/index.js'
import type { BootMode, Indicators, VirtualMedium } from '../../drivers/hardware.js'
import type { ShownVendorMethod } from '../../drivers/hardware-type.js'

/** A call of a vendor method: by its name, the HTTP method and the body. */
export interface VendorCall {
  readonly method: string
  readonly http: string
  readonly data: unknown
}

/**
 * What the API asks of a node's hardware. Changes are begun: they resolve once the node shows that they are under way,
 * and `last_error` tells when they fail. The rest is asked of the BMC at once.
 */
export interface HardwareCalls {
  setBootMode(uuid: string, mode: BootMode): Promise<void>
  setSecureBoot(uuid: string, on: boolean): Promise<void>
  attachMedia(uuid: string, device: MediaDevice, url: string): Promise<void>
  /** All of them with null. */
  detachMedia(uuid: string, devices: readonly MediaDevice[] | null): Promise<void>
  media(uuid: string): Promise<readonly VirtualMedium[]>
  injectNmi(uuid: string): Promise<void>
  indicators(uuid: string): Promise<Indicators>
  indicator(uuid: string, component: string, name: string): Promise<string>
  setIndicator(uuid: string, component: string, name: string, state: string): Promise<void>
  setConsole(uuid: string, on: boolean): Promise<void>
  /** Null while it is not enabled. */
  console(uuid: string): Promise<JsonObject | null>
  vendorMethods(uuid: string): Promise<Readonly<Record<string, ShownVendorMethod>>>
  /** `waits` tells whether `value` is what the method gave; otherwise it was only begun. */
  callVendor(uuid: string, call: VendorCall): Promise<{ waits: boolean; value: unknown }>
  bios(uuid: string): Promise<BiosSettingRecord[]>
  firmware(uuid: string): Promise<FirmwareComponentRecord[]>
}
