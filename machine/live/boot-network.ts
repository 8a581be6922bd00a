import type { ByteSource } from '../../bytes/index.js'

/** How a machine reaches the media that it boots from: its BMC for virtual media, its firmware for PXE. */
export interface BootNetwork {
  /**
   * Opens the file at a URL. Only the ranges that are read are fetched.
   *
   * @throws Error with the reason
   */
  open(url: string, signal: AbortSignal): Promise<ByteSource>
}

/** The network of a machine without a connection. */
export const NO_NETWORK: BootNetwork = {
  open: () => Promise.reject(new Error('the machine has no network')),
}
