import type { BmcHardware } from './hardware.js'
import type { NodeRecord, PortRecord, PowerState } from '../../wire/index.js'

/** Where a machine boots from at its next power-on. */
export type BootSource =
  | { kind: 'disk' }
  /** The deploy ramdisk, with the kernel parameters Ironic gives it (`ipa-api-url` ...). */
  | { kind: 'ramdisk'; parameters: Record<string, string> }
  /** A ramdisk in an ISO, by URL, as virtual media; nothing can be put into it. */
  | { kind: 'iso'; url: string }
  /** A ramdisk and its kernel, by URL, with the kernel's command line. */
  | { kind: 'pxe'; kernel: string; ramdisk: string; append: string }
  /** Whatever is inserted as a CD. */
  | { kind: 'cdrom' }
  /** An instance that runs from memory: an ISO, or a kernel and its ramdisk, by URL. */
  | { kind: 'live'; image: LiveImage }

export type LiveImage = { iso: string } | { kernel: string; ramdisk: string }

/**
 * The port through which the conductor reaches a machine. Every call is safe to repeat. A rejection's message is what
 * Ironic would show as the driver's error.
 */
export interface Bmc {
  power(): Promise<Extract<PowerState, 'power on' | 'power off' | 'error'>>
  /** Resolves when the new state has been reached; `rebooting` ends in `power on`. */
  setPower(target: 'power on' | 'power off' | 'rebooting' | 'soft power off' | 'soft rebooting'): Promise<void>
  setBoot(source: BootSource): Promise<void>
  /** Absent where there is nothing but a power button. */
  readonly hardware?: BmcHardware
}

/** Finds the machine behind a node; rejects when the node's driver_info reaches none. */
export type Bmcs = (node: NodeRecord, ports: readonly PortRecord[]) => Promise<Bmc>
