import type { LogState } from './bmc-log.js'
import type { BmcSettings } from './bmc-settings.js'
import type { BootSettingsState } from './boot-override.js'
import type { FirmwareAttribute, FirmwareValue } from './firmware-attribute.js'

export interface InstalledFirmware {
  component: string
  version: string
  vendor: string | null
  model: string | null
  serial: string | null
}

/** The firmware as the BMC reports it. A changed BIOS setting shows after the next boot. */
export interface FirmwareReport {
  bootMode: 'uefi' | 'bios'
  secureBoot: boolean
  vendor: string
  health: 'OK' | 'Warning' | 'Critical'
  bios: FirmwareAttribute[]
  firmware: InstalledFirmware[]
}

export type MediaDrive = 'cdrom' | 'floppy' | 'disk'

export interface MediumState {
  media_types: string[]
  inserted: boolean
  image: string | null
}

export interface RedfishSubscription {
  Id: string
  Context: string
  Protocol: string
  Destination: string
  EventTypes: string[]
  /** Headers that are sent with each event. */
  HttpHeaders?: Record<string, string>
}

/** Stored state of a machine's firmware and BMC. A missing field has its factory value. */
export interface FirmwareState {
  bootMode?: 'uefi' | 'bios'
  secureBoot?: boolean
  health?: FirmwareReport['health']
  settings?: Record<string, FirmwareValue>
  /** Settings for the next boot; null resets to the factory values. */
  pending?: Record<string, FirmwareValue> | null
  /** Settings that wait until a time is named at which they are applied. */
  staged?: Record<string, FirmwareValue>
  versions?: Record<string, string>
  media?: Partial<Record<MediaDrive, string>>
  /** Images that were ejected, of BMCs that go on to show their names. */
  ejected?: Partial<Record<MediaDrive, string>>
  /** True if the running system holds the CD that it was booted from (`holdsBootMedia`). */
  held?: boolean
  indicators?: Record<string, string>
  subscriptions?: RedfishSubscription[]
  nextSubscription?: number
  volumes?: Record<string, unknown>[]
  boot?: BootSettingsState
  log?: LogState
  /** Secure boot of the boot that began last. */
  bootedSecurely?: boolean
  mediaOptions?: Partial<Record<MediaDrive, MediaOptions>>
  mediaTrust?: Partial<Record<MediaDrive, MediaTrust>>
  writtenImage?: WrittenImage
  /** Databases of secure boot without their keys. */
  emptyKeys?: readonly SecureBootDatabase[]
  bmcSettings?: BmcSettings
  bmcClock?: BmcClock
}

/** The clock of a BMC: milliseconds that it is ahead of the lab's, and its offset from UTC (`+01:00`). */
export interface BmcClock {
  readonly ahead: number
  readonly offset: string
}

/** Databases of secure boot, by their UEFI names. */
export const SECURE_BOOT_DATABASES = ['PK', 'KEK', 'db', 'dbx'] as const

export type SecureBootDatabase = (typeof SECURE_BOOT_DATABASES)[number]

/** Verification of image servers' certificates by a slot. */
export interface MediaTrust {
  /** True if their certificates are verified. */
  verify: boolean
  /** Certificates that are believed, PEM. */
  certificates: readonly { readonly id: string; readonly pem: string }[]
}

/** Place of an image as a client has written it into a BMC whose actions mount it later. */
export interface WrittenImage {
  readonly host: string
  readonly path: string
  readonly username: string
  readonly password: string
}

/** Details of an inserted medium. */
export interface MediaOptions {
  /** Account for the server of the image. */
  username?: string
  password?: string
  writeProtected?: boolean
}
