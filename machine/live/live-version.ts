import { compareVersions } from '../../coreos/index.js'

/** CoreOS version in a live ISO's kernel arguments (`coreos.liveiso=fedora-coreos-38.20230718.3.0`); null without one. */
export const liveVersion = (kernelArguments: string): string | null =>
  /(?:^|\s)coreos\.liveiso=\S*?-(\d[\w.]*(?:-\d+)?)(?=\s|$)/.exec(kernelArguments)?.[1] ?? null

/** The reason why a live system has no driver for newer hardware; null when it has one, or its version is unknown. */
export function missingDriver(kernelArguments: string, supportedSince: string | undefined): string | null {
  const version = liveVersion(kernelArguments)
  if (supportedSince === undefined || version === null || compareVersions(version, supportedSince) >= 0) return null
  return `no driver for the network controllers in ${version}: they are supported since ${supportedSince}`
}
