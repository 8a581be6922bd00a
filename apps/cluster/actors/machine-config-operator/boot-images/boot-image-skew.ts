import { conditionOf, type Condition, type MachineConfiguration } from '../../../../../base/kubernetes/index.js'
import { UPDATE_DEGRADED, UPDATE_PROGRESSING } from './image-conditions.js'

type Enforcement = NonNullable<NonNullable<MachineConfiguration['status']>['bootImageSkewEnforcementStatus']>

/** Oldest boot images that a release may be upgraded with (machine-config-operator 7ff337a pkg/controller/common/constants.go). */
const MIN_OCP_VERSION = '4.13.0'
const MIN_RHEL_VERSION = '9.2'

/** Facts that the mode of a cluster follows from. */
export interface SkewFacts {
  spec: MachineConfiguration['spec']
  platform: string
  topology: string | undefined
  /** True if a Provisioning names a disk image, as in a cluster that was installed by 4.9 or before, or cannot be read. */
  isLegacy: boolean
  /** Version that the cluster was installed with; `0.0.0` if it is unknown. */
  installed: string
  /** True if the boot images of all machine sets are managed. Default false. */
  managesAll?: boolean
  /** Enforcement as the status has it. */
  before?: Enforcement | undefined
}

/** How the skew of boot images is enforced: pkg/operator/sync.go syncBootImageSkewEnforcementStatus, the first that fits. */
export function skewEnforcement(facts: SkewFacts): Enforcement {
  const { spec, platform, topology, isLegacy, installed, managesAll = false, before } = facts
  const { bootImageSkewEnforcement: wanted } = spec
  if (wanted?.mode === 'Manual') return { mode: 'Manual', ...(wanted.manual && { manual: wanted.manual }) }
  if (wanted || (platform === 'BareMetal' && !isLegacy) || topology === 'SingleReplica') return { mode: 'None' }
  // From then on the boot image controller writes the version.
  if (managesAll)
    return before?.mode === 'Automatic' ? before : { mode: 'Automatic', automatic: { ocpVersion: installed } }
  return { mode: 'Manual', manual: { mode: 'OCPVersion', ocpVersion: installed } }
}

/**
 * Why boot images keep the cluster from another upgrade: pkg/operator/status.go checkBootImageSkewUpgradeableGuard. Undefined
 * where they do not, their version cannot be read, or the boot image controller has not looked at them yet.
 *
 * @param release that the cluster has: `4.22.0`
 * @param conditions of the MachineConfiguration
 */
export function skewProblem(
  enforcement: Enforcement | undefined,
  release: string,
  conditions?: readonly Condition[],
): string | undefined {
  if (enforcement?.mode === 'Automatic') {
    const degraded = conditionOf(conditions, UPDATE_DEGRADED)
    if (degraded?.status === 'True')
      return `Upgrades have been disabled due to boot image update failures: boot image controller is degraded: ${degraded.message ?? ''}`
    if (conditionOf(conditions, UPDATE_PROGRESSING)?.status !== 'False') return undefined
  }
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
