import type { IgnitionConfig } from '../../../ignition/index.js'
import type { RealTarget } from '../../runs/index.js'
import type { SshShellOptions } from '../../../targets/index.js'
import type { HostBmc } from '../bmc/host-bmc.js'
import type { Host } from '../hosts/host.js'

/** How a run reaches hosts: real ones, or those of a rehearsal. */
export interface HostAccess {
  /** Null for a host without a BMC. */
  openBmc(host: Host, signal: AbortSignal): Promise<HostBmc | null>
  /** The account of the BMC of a host, for an Ironic. */
  bmcAccount(host: Host, signal: AbortSignal): Promise<{ username: string; password: string }>
  /** Connection to the live system or the installed one. */
  ssh(host: Host): Promise<SshShellOptions>
  /** The live system, with the disk that may be written. */
  openTarget(host: Host, options: { readOnly: boolean; signal: AbortSignal; reboot?: boolean }): Promise<RealTarget>
  /** Lines of the serial console from now on, until the signal; null for a host whose console is not captured. */
  openConsole(host: Host, signal: AbortSignal): Promise<AsyncIterable<string> | null>
  ignition(host: Host, signal: AbortSignal): Promise<IgnitionConfig>
  /** Removes secrets that this has read from a text. */
  mask(text: string): string
}
