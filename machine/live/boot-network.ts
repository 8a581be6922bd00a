import type { ByteSource } from '../../bytes/index.js'

/** How a machine reaches the media that it boots from: its BMC for virtual media, its firmware for PXE. */
export interface BootNetwork {
  /**
   * A file at a URL, of which only the ranges are fetched that are read.
   *
   * @throws Error with the reason
   */
  open(url: string, signal: AbortSignal): Promise<ByteSource>
}

/** A machine whose cables lead nowhere. */
export const NO_NETWORK: BootNetwork = {
  open: () => Promise.reject(new Error('the machine has no network')),
}
