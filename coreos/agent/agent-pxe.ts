import { ipxeScript, liveKernelArguments, type IpxeBoot, type LiveSources } from '../live/live-kernel-arguments.js'
import { LiveImageError } from '../live-image-error.js'

/** Kernel arguments of a live CoreOS that Ironic boots by PXE. */
export interface LivePxe extends LiveSources {
  /** Arguments that Ironic appends anyway: `nofb nomodeset vga=normal`, and the agent's, such as `ipa-insecure=1`. */
  append?: string
  /** Network of the live system, such as `ip=dhcp6`. `IPA_COREOS_IP_OPTIONS` keeps it for the installed system. */
  ipOptions?: string
}

/**
 * Ironic's `kernel_append_params` (once `pxe_append_params`) for a live CoreOS, as in the Ironic images of Metal3 and
 * OpenShift: the arguments that Ironic had, the URLs of the root filesystem and the Ignition config, and the network.
 * Each argument appears once.
 *
 * @throws LiveImageError for line breaks, and for a URL that would not stay one kernel argument
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
 * iPXE script that boots a live CoreOS with the arguments of {@link pxeAppendParams}.
 *
 * @throws LiveImageError as {@link pxeAppendParams} does, also for the URLs of kernel and initramfs
 */
export const liveIpxeScript = ({ kernelUrl, initramfsUrls, ...live }: Omit<IpxeBoot, 'arguments'> & LivePxe): string =>
  ipxeScript({ kernelUrl, initramfsUrls, arguments: pxeAppendParams(live) })
