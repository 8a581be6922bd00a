import type { BmcHardware } from './bmc-hardware.js'
import type { MediaDevice, NodeRecord, PortRecord, PowerState } from '../../base/wire/index.js'

/** Source of the next boot of a machine. */
export type BootSource =
  | { kind: 'disk' }
  /** The deploy ramdisk, with the kernel parameters Ironic gives it (`ipa-api-url` ...). */
  | { kind: 'ramdisk'; parameters: Record<string, string> }
  /** A ramdisk in an ISO, by URL, as virtual media; nothing can be put into it. */
  | { kind: 'iso'; url: string }
  /** A ramdisk and its kernel, by URL, with the kernel's command line. */
  | { kind: 'pxe'; kernel: string; ramdisk: string; append: string }
  /** The image that is inserted as a CD. */
  | { kind: 'cdrom' }
  /** An instance that runs from memory: an ISO, or a kernel and its ramdisk, by URL. */
  | { kind: 'live'; image: LiveImageUrls }

type LiveImageUrls = { iso: string } | { kernel: string; ramdisk: string }

/** Change of the virtual media for a boot. */
export interface BootMedia {
  /** Drives that are emptied first. */
  readonly eject: readonly MediaDevice[]
  /** URL of the image that is then in the CD drive. */
  readonly insert?: string
}

/**
 * Interface by which the conductor controls a machine. Every call is safe to repeat. The message of a rejection is what
 * Ironic would show as the driver's error.
 */
export interface Bmc {
  power(): Promise<Extract<PowerState, 'power on' | 'power off' | 'error'>>
  /** Resolves when the machine has reached the new state; `rebooting` ends in `power on`. */
  setPower(target: 'power on' | 'power off' | 'rebooting' | 'soft power off' | 'soft rebooting'): Promise<void>
  /** Changes the virtual media first, where some are named. */
  setBoot(source: BootSource, media?: BootMedia): Promise<void>
  /** Absent for a machine that only has a power button. */
  readonly hardware?: BmcHardware
}

/**
 * Finds the machine of a node; rejects when its driver_info leads to none.
 *
 * @param signal aborted when the caller waits for no answer any more
 */
export type Bmcs = (node: NodeRecord, ports: readonly PortRecord[], signal?: AbortSignal) => Promise<Bmc>
