import type { Host } from '../hosts/host.js'

/** Names by which a BMC knows its machine; null for names that it does not report. */
export interface BmcIdentity {
  bmcSerial: string | null
  systemSerial: string | null
  product: string | null
}

/** The BMC of a host, by Redfish or IPMI. */
export interface HostBmc extends AsyncDisposable {
  /** Name for messages. */
  readonly name: string
  identify(signal: AbortSignal): Promise<BmcIdentity>
  /** Boots the live system, once; resolves when the machine was started with it. */
  bootLive(live: Host['live'], signal: AbortSignal): Promise<void>
  /** Takes the live system away and starts the machine from its disk; resolves when it was started. */
  bootDisk(signal: AbortSignal): Promise<void>
  /** Lines of the BMC's log about what happened to the machine since a time; empty if the BMC keeps no log. */
  log(since: number, signal: AbortSignal): Promise<string[]>
}
