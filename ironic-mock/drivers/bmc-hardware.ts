import type { JsonObject, MediaDevice } from '../../base/wire/index.js'

export type BootMode = 'uefi' | 'bios'
export type BiosValue = string | number | boolean

/** A setting of a machine's firmware, with its entry in the attribute registry. */
export interface BiosAttribute {
  readonly name: string
  readonly value: BiosValue
  readonly type: 'Enumeration' | 'Integer' | 'String' | 'Boolean'
  readonly allowed: readonly string[]
  readonly lower: number | null
  readonly upper: number | null
  readonly shortest: number | null
  readonly longest: number | null
  readonly readOnly: boolean
  readonly resetRequired: boolean
  readonly unique: boolean
}

/** `bios`, `bmc` or `nic:SERIAL`. */
export interface FirmwareVersion {
  readonly component: string
  readonly version: string
  readonly vendor: string | null
  readonly model: string | null
  readonly serial: string | null
}

/** State of the machine as its BMC reports it; changes that wait for the next boot are not in it. */
export interface HardwareReport {
  /** Null where the BMC does not say it. */
  readonly bootMode: BootMode | null
  readonly secureBoot: boolean
  readonly vendor: string
  readonly health: 'OK' | 'Warning' | 'Critical'
  readonly bios: readonly BiosAttribute[]
  readonly firmware: readonly FirmwareVersion[]
}

/** As `GET /v1/nodes/X/vmedia` shows it. */
export interface VirtualMedium {
  readonly media_types: readonly string[]
  readonly inserted: boolean
  readonly image: string | null
}

/** An indicator by component and name. */
export type Indicators = Readonly<
  Record<string, Readonly<Record<string, { readonly readonly: boolean; readonly states: readonly string[] }>>>
>

/** Change of a machine through its BMC. Repeating one is harmless. */
export type BmcChange =
  | { readonly change: 'boot mode'; readonly mode: BootMode }
  | { readonly change: 'secure boot'; readonly on: boolean }
  /** Takes effect at the next boot. */
  | { readonly change: 'bios'; readonly settings: Readonly<Record<string, BiosValue>> }
  | { readonly change: 'bios defaults' }
  | { readonly change: 'firmware'; readonly component: string; readonly url: string }
  | { readonly change: 'insert media'; readonly device: MediaDevice; readonly url: string }
  /** Null ejects all. */
  | { readonly change: 'eject media'; readonly devices: readonly MediaDevice[] | null }
  | { readonly change: 'indicator'; readonly component: string; readonly name: string; readonly state: string }
  | { readonly change: 'volumes'; readonly volumes: readonly JsonObject[] }
  | { readonly change: 'nmi' }
  | { readonly change: 'reset bmc'; readonly warm: boolean }
  | { readonly change: 'raw'; readonly bytes: string }

/** An event subscription in Redfish's form. */
export interface EventSubscription {
  readonly Id: string
  readonly Context: string
  readonly Protocol: string
  readonly Destination: string
  readonly EventTypes: readonly string[]
}

/** Parts of a machine as its BMC knows them. */
export interface SystemReport {
  readonly manufacturer: string
  readonly model: string
  readonly serial: string
  readonly memoryMib: number
  readonly cpu: { readonly count: number; readonly architecture: string; readonly model: string | null }
  readonly bootMode: BootMode
  /** MACs in lower case. */
  readonly nics: readonly { readonly name: string; readonly mac: string; readonly speedMbps: number | null }[]
  readonly disks: readonly {
    readonly name: string
    /** Bytes. */
    readonly size: number
    readonly vendor: string
    readonly model: string
    readonly serial: string
    readonly rotational: boolean
  }[]
}

/** Functions of a BMC beyond power and boot source. The message of a rejection is what Ironic would show. */
export interface BmcHardware {
  report(): Promise<HardwareReport>
  /** Inventory for an inspection without a ramdisk. */
  system(): Promise<SystemReport>
  change(change: BmcChange): Promise<void>
  media(): Promise<readonly VirtualMedium[]>
  indicators(): Promise<Indicators>
  indicator(component: string, name: string): Promise<string>
  subscribe(wanted: Omit<EventSubscription, 'Id'> & { HttpHeaders?: readonly unknown[] }): Promise<EventSubscription>
  /** Rejects when no subscription has this id. */
  unsubscribe(id: string): Promise<void>
  subscriptions(): Promise<readonly EventSubscription[]>
}
