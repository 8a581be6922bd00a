import { compareVersions } from '../../coreos/index.js'

/** CoreOS version in the name of a live ISO's volume (`fedora-coreos-38.20230718.3.0`); null without one. */
export const volumeVersion = (volume: string): string | null => /-(\d[\w.]*(?:-\d+)?)$/.exec(volume)?.[1] ?? null

/** CoreOS version in a live ISO's kernel arguments, which name its volume; null without one. */
export function liveVersion(kernelArguments: string): string | null {
  const [, volume] = /(?:^|\s)coreos\.liveiso=(\S+)/.exec(kernelArguments) ?? []
  return volume === undefined ? null : volumeVersion(volume)
}

/** CoreOS version in an initramfs' `initrd-release`, which is the root filesystem's `os-release`; null without one. */
export const releaseVersion = (text: string): string | null =>
  /^OSTREE_VERSION=(["']?)([^"'\n]+)\1$/m.exec(text)?.[2] ?? null

/** The reason why a live system has no driver for newer hardware; null when it has one, or its version is unknown. */
export function missingDriver(version: string | null, supportedSince: string | undefined): string | null {
  if (supportedSince === undefined || version === null || compareVersions(version, supportedSince) >= 0) return null
  return `no driver for the network controllers in ${version}: they are supported since ${supportedSince}`
}
