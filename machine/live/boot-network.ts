import type { ByteSource } from '../../bytes/index.js'
import type { SpecResource } from '../../ignition/index.js'

/** How a machine that boots reaches what it boots from: its BMC for virtual media, its firmware for PXE, Ignition. */
export interface BootNetwork {
  /**
   * A file at a URL, of which only the ranges are fetched that are read.
   *
   * @throws Error that says why it cannot be had
   */
  open(url: string, signal: AbortSignal): Promise<ByteSource>
  /** What Ignition refers to, as it is there; the same errors. */
  get(resource: SpecResource, signal: AbortSignal): Promise<Uint8Array>
}

/** A machine whose cables lead nowhere. */
export const NO_NETWORK: BootNetwork = {
  open: () => Promise.reject(new Error('the machine has no network')),
  get: () => Promise.reject(new Error('the machine has no network')),
}
