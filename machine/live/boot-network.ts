import type { ByteSource, HttpThrough } from '../../base/bytes/index.js'

/** How a machine reaches the media that it boots from: its BMC for virtual media, its firmware for PXE. */
export interface BootNetwork {
  /**
   * Opens the file at a URL. Only the ranges that are read are fetched.
   *
   * @throws Error with the reason
   */
  open(url: string, options: FileOptions): Promise<ByteSource>
  /**
   * URL of the boot script, menu or folder of them that the network's DHCP server would name; without it nothing is
   * booted over the network.
   */
  readonly bootScript?: string
}

/** Access to a server of media. */
export interface MediaAccess {
  /** Account for the server. */
  credentials?: ServerAccount
  /** PEM certificates of authorities that the server is verified by; absent: by the network's own rule. */
  verifiedBy?: readonly string[]
}

interface FileOptions extends MediaAccess {
  signal: AbortSignal
  /** Sees each request. */
  through?: HttpThrough | undefined
}

/** User name and password for a server of media. */
interface ServerAccount {
  username: string
  password: string
}

/** The network of a machine without a connection. */
export const NO_NETWORK: BootNetwork = {
  open: () => Promise.reject(new Error('the machine has no network')),
}
