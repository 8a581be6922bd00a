import { compareVersions } from '../../coreos/index.js'

/** Which CoreOS a live ISO's kernel arguments name: `coreos.liveiso=fedora-coreos-38.20230718.3.0`; null for none. */
export const liveVersion = (kernelArguments: string): string | null =>
  /(?:^|\s)coreos\.liveiso=\S*?-(\d[\w.]*(?:-\d+)?)(?=\s|$)/.exec(kernelArguments)?.[1] ?? null

/** Why a live system finds no network on hardware that came after it; null where it has drivers, or no version is known. */
export function missingDriver(kernelArguments: string, supportedSince: string | undefined): string | null {
  const version = liveVersion(kernelArguments)
  if (supportedSince === undefined || version === null || compareVersions(version, supportedSince) >= 0) return null
  return `no driver for the network controllers in ${version}: they are supported since ${supportedSince}`
}
