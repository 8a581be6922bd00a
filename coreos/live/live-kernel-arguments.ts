import { LiveImageError } from '../live-image-error.js'

/** URLs from which a live system booted by PXE fetches parts that are not in its initramfs. */
export interface LiveSources {
  /** Root filesystem; without this URL the initramfs must contain it. */
  rootfsUrl?: string
  /** Ignition config, when it is not in the initramfs. */
  ignitionUrl?: string
  /** True if Ignition runs; it always does with {@link ignitionUrl}. */
  ignition?: boolean
}

/**
 * Kernel arguments that boot a live CoreOS, for example for `pxe_append_params`.
 *
 * @throws LiveImageError for a URL that would not stay one kernel argument, or that a boot loader would expand
 *
 * @example
 * import { liveKernelArguments } from 'ironstage/coreos'
 *
 * const append = liveKernelArguments({ rootfsUrl: 'http://192.0.2.1/rootfs.img' })
 */
export function liveKernelArguments({ rootfsUrl, ignitionUrl, ignition = false }: LiveSources): string {
  return [
    ...(rootfsUrl === undefined ? [] : [`coreos.live.rootfs_url=${checkKargUrl(rootfsUrl)}`]),
    ...(ignitionUrl === undefined ? [] : [`ignition.config.url=${checkKargUrl(ignitionUrl)}`]),
    ...(ignition || ignitionUrl !== undefined ? ['ignition.firstboot', 'ignition.platform.id=metal'] : []),
  ].join(' ')
}

/**
 * Splits a kernel command line into arguments. White space between quotation marks is part of an argument, as in Linux'
 * `next_arg()`; the quotation marks stay.
 */
export const kernelWords = (line: string): string[] => line.match(/(?:"[^"]*"?|[^\s"])+/g) ?? []

/** A boot script for iPXE. */
export interface IpxeBoot {
  kernelUrl: string
  /** The kernel concatenates them. */
  initramfsUrls: readonly string[]
  /** Kernel arguments, such as those of {@link liveKernelArguments}. */
  arguments: string
}

/**
 * iPXE script that boots a kernel with its initramfs. UEFI firmware needs `initrd=` on the command line.
 *
 * @throws LiveImageError for a line break, which would begin another line of the script
 */
export function ipxeScript({ kernelUrl, initramfsUrls, arguments: kernelArguments }: IpxeBoot): string {
  if (/[\n\r]/.test(kernelArguments)) throw new LiveImageError('kernel arguments with a line break')
  const names = initramfsUrls.map((_, index) => (index === 0 ? 'initrd' : `initrd${index + 1}`))
  const kernel = ['kernel', checkKargUrl(kernelUrl), ...names.map((name) => `initrd=${name}`), kernelArguments]
  return [
    '#!ipxe',
    kernel.filter((word) => word !== '').join(' '),
    ...initramfsUrls.map((url, index) => `initrd --name ${names[index]!} ${checkKargUrl(url)}`),
    'boot',
    '',
  ].join('\n')
}

/** Refuses `$` and backslashes, which boot loaders interpret, and white space, at which the kernel splits. */
function checkKargUrl(url: string): string {
  if (!/^https?:\/\/[^\s$\\]+$/.test(url)) throw new LiveImageError(`${JSON.stringify(url)} cannot be a URL here`)
  return url
}
