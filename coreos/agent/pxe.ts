import { ipxeScript, liveKernelArguments, type IpxeBoot, type LiveSources } from '../live/kernel-arguments.js'
import { LiveImageError } from '../live-image-error.js'

/** What the kernel of a live CoreOS is told when Ironic boots it by PXE. */
export interface LivePxe extends LiveSources {
  /** What Ironic appends anyway: `nofb nomodeset vga=normal`, and parameters of the agent, `ipa-insecure=1`. */
  append?: string
  /** The live system's network, as `ip=dhcp6`; it stays the machine's by `IPA_COREOS_IP_OPTIONS`. */
  ipOptions?: string
}

/**
 * Ironic's `kernel_append_params` (once `pxe_append_params`) for a live CoreOS, each argument once: what Ironic had
 * there, where the root filesystem and the Ignition config are, and the network (Metal3's and OpenShift's Ironic images).
 *
 * @throws LiveImageError for a URL that a command line would take apart, and for line breaks
 *
 * @example
 * pxeAppendParams({ append: 'nofb', rootfsUrl: 'http://192.0.2.1/rootfs.img', ignitionUrl: 'http://192.0.2.1/agent.ign' })
 */
export function pxeAppendParams({ append = '', ipOptions = '', ...sources }: LivePxe): string {
  for (const text of [append, ipOptions])
    if (/[\n\r\0]/.test(text)) throw new LiveImageError('kernel arguments with a line break')
  const words = [append, liveKernelArguments(sources), ipOptions].flatMap((text) => text.split(/\s+/).filter(Boolean))
  return [...new Set(words)].join(' ')
}

/**
 * An iPXE script that boots a live CoreOS so.
 *
 * @throws LiveImageError as {@link pxeAppendParams}, and for URLs of kernel and initramfs alike
 */
export const liveIpxeScript = ({ kernelUrl, initramfsUrls, ...live }: Omit<IpxeBoot, 'arguments'> & LivePxe): string =>
  ipxeScript({ kernelUrl, initramfsUrls, arguments: pxeAppendParams(live) })
