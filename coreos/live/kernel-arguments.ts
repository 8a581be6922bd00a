import { LiveImageError } from '../live-image-error.js'

/** Where a live system that was booted by PXE finds what is not in its initramfs. */
export interface LiveSources {
  /** The root filesystem; without it the initramfs has to hold one. */
  rootfsUrl?: string
  /** An Ignition config, where it is not in the initramfs. */
  ignitionUrl?: string
  /** Whether Ignition runs, as it does with a URL. */
  ignition?: boolean
}

/**
 * What a kernel needs to boot a live CoreOS, for `pxe_append_params` and the like.
 *
 * @throws LiveImageError for a URL that a command line or a boot loader would take apart
 *
 * @example
 * import { liveKernelArguments } from 'ironstage/coreos'
 *
 * const append = liveKernelArguments({ rootfsUrl: 'http://192.0.2.1/rootfs.img' })
 */
export function liveKernelArguments({ rootfsUrl, ignitionUrl, ignition = false }: LiveSources): string {
  return [
    ...(rootfsUrl === undefined ? [] : [`coreos.live.rootfs_url=${checked(rootfsUrl)}`]),
    ...(ignitionUrl === undefined ? [] : [`ignition.config.url=${checked(ignitionUrl)}`]),
    ...(ignition || ignitionUrl !== undefined ? ['ignition.firstboot', 'ignition.platform.id=metal'] : []),
  ].join(' ')
}

/**
 * The arguments of a kernel's command line. White space between quotation marks belongs to an argument, as in Linux'
 * `next_arg()`; the marks stay.
 */
export const kernelWords = (line: string): string[] => line.match(/(?:"[^"]*"?|[^\s"])+/g) ?? []

/** A boot script for iPXE. */
export interface IpxeBoot {
  kernelUrl: string
  /** Several are concatenated by the kernel. */
  initramfsUrls: readonly string[]
  /** As of {@link liveKernelArguments}, and others. */
  arguments: string
}

/**
 * An iPXE script that boots a kernel with its initramfs; `initrd=` names it for firmware that boots by UEFI.
 *
 * @throws LiveImageError for what would begin another line of the script
 */
export function ipxeScript({ kernelUrl, initramfsUrls, arguments: given }: IpxeBoot): string {
  if (/[\n\r]/.test(given)) throw new LiveImageError('kernel arguments with a line break')
  const names = initramfsUrls.map((_, index) => (index === 0 ? 'initrd' : `initrd${index + 1}`))
  const kernel = ['kernel', checked(kernelUrl), ...names.map((name) => `initrd=${name}`), given]
  return [
    '#!ipxe',
    kernel.filter((word) => word !== '').join(' '),
    ...initramfsUrls.map((url, index) => `initrd --name ${names[index]!} ${checked(url)}`),
    'boot',
    '',
  ].join('\n')
}

/** `$` and backslashes mean something to boot loaders, white space to the kernel. */
function checked(url: string): string {
  if (!/^https?:\/\/[^\s$\\]+$/.test(url)) throw new LiveImageError(`${JSON.stringify(url)} cannot be a URL here`)
  return url
}
