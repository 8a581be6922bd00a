import type { MachineConfiguration } from '../../../../../base/kubernetes/index.js'

type Enforcement = NonNullable<NonNullable<MachineConfiguration['status']>['bootImageSkewEnforcementStatus']>

/** Oldest boot images that a release may be upgraded with (machine-config-operator 7ff337a pkg/controller/common/constants.go). */
const MIN_OCP_VERSION = '4.13.0'
const MIN_RHEL_VERSION = '9.2'

/** Platforms whose machine sets get boot images by themselves (common/helpers.go CheckBootImagePlatform). */
const MANAGED_PLATFORMS: readonly string[] = ['AWS', 'Azure', 'GCP', 'VSphere']

/** Facts that the mode of a cluster follows from. */
export interface SkewFacts {
  spec: MachineConfiguration['spec']
  platform: string
  topology: string | undefined
  /** True if a Provisioning names a disk image, as in a cluster that was installed by 4.9 or before, or cannot be read. */
  isLegacy: boolean
  /** Version that the cluster was installed with; `0.0.0` if it is unknown. */
  installed: string
}

/** How the skew of boot images is enforced: pkg/operator/sync.go syncBootImageSkewEnforcementStatus, the first that fits. */
export function skewEnforcement({ spec, platform, topology, isLegacy, installed }: SkewFacts): Enforcement {
  const { bootImageSkewEnforcement: wanted } = spec
  if (wanted?.mode === 'Manual') return { mode: 'Manual', ...(wanted.manual && { manual: wanted.manual }) }
  if (wanted || (platform === 'BareMetal' && !isLegacy) || topology === 'SingleReplica') return { mode: 'None' }
  if (MANAGED_PLATFORMS.includes(platform)) return { mode: 'Automatic', automatic: { ocpVersion: installed } }
  return { mode: 'Manual', manual: { mode: 'OCPVersion', ocpVersion: installed } }
}

/**
 * Why boot images are too old for another upgrade: pkg/operator/status.go checkBootImageSkew. Undefined where they are not,
 * or their version cannot be read.
 *
 * @param release that the cluster has: `4.22.0`
 */
export function skewProblem(enforcement: Enforcement | undefined, release: string): string | undefined {
  const { ocpVersion, rhcosVersion } = enforcement?.manual ?? enforcement?.automatic ?? {}
  const why =
    ocpVersion === undefined
      ? rhcosVersion === undefined
        ? undefined
        : rhcosProblem(rhcosVersion)
      : ocpProblem(ocpVersion)
  if (why === undefined) return undefined
  const minor = release.split('.').slice(0, 2).join('.')
  const manual = `https://docs.redhat.com/en/documentation/openshift_container_platform/${minor}/html/machine_configuration/mco-update-boot-skew-mgmt`
  return `Upgrades have been disabled because ${why}. To enable upgrades, please update your boot images or disable boot image skew enforcement by following the documentation at ${manual}`
}

const ocpProblem = (version: string): string | undefined =>
  isBelow(version, MIN_OCP_VERSION)
    ? `the cluster is using OCP boot image version ${version}, which is below the minimum required version ${MIN_OCP_VERSION}`
    : undefined

function rhcosProblem(version: string): string | undefined {
  const rhel = rhelVersion(version)
  return rhel !== undefined && isBelow(rhel, MIN_RHEL_VERSION)
    ? `the cluster is using RHCOS boot image version ${version}(RHEL version: ${rhel}), which is below the minimum required RHEL version ${MIN_RHEL_VERSION}`
    : undefined
}

/** RHEL in a version of CoreOS: 9.6 of `9.6.20251023-0`, 8.4 of `48.84.202208021106-0`. Undefined for another form. */
function rhelVersion(version: string): string | undefined {
  const [major, minor = '', rest = ''] = version.split('.')
  const [stamp = ''] = rest.split('-')
  if (stamp.length === 8) return `${major}.${minor}`
  return stamp.length === 12 && minor.length >= 2 ? `${minor[0]}.${minor.slice(1)}` : undefined
}

/** True if a version is below another, part by part; false where one is no version. */
function isBelow(version: string, limit: string): boolean {
  const parts = version.split('-')[0]!.split('.').map(Number)
  if (parts.some((part) => !Number.isInteger(part))) return false
  for (const [index, least] of limit.split('.').map(Number).entries()) {
    const part = parts[index] ?? 0
    if (part !== least) return part < least
  }
  return false
}
