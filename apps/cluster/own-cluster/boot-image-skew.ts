import { isOlder } from '../actors/cluster-version-operator/release-version.js'
import type { OwnMachineConfiguration, OwnProvisioning, SkewEnforcement } from './own-objects.js'

// machine-config-operator 7ff337a: syncBootImageSkewEnforcementStatus of pkg/operator/sync.go,
// checkBootImageSkewUpgradeableGuard of pkg/operator/status.go, the limits of pkg/controller/common/constants.go.

const OLDEST_OCP = '4.13.0'
const OLDEST_RHEL = [9, 2] as const
/** The release from which the gate BootImageSkewEnforcement is on by default. */
export const SKEW_ENFORCED_SINCE = '4.22.0'

/** Platforms on which the operator keeps the boot images of machine sets new, unless it is told not to. */
const MANAGED_PLATFORMS = ['AWS', 'Azure', 'GCP', 'VSphere']

export interface SkewFacts {
  platform: string
  isSingleNode: boolean
  /** The version that the cluster was installed with. */
  installed: string
  /** Undefined where there is none, or it cannot be read. */
  provisioning: OwnProvisioning | undefined
  configuration: OwnMachineConfiguration | undefined
}

/** How the operator judges the age of boot images: the first rule that fits. */
export function skewEnforcement(facts: SkewFacts): SkewEnforcement {
  const { platform, isSingleNode, installed, provisioning, configuration } = facts
  const known = configuration?.status?.bootImageSkewEnforcementStatus ?? configuration?.spec?.bootImageSkewEnforcement
  if (known) return known
  // A Provisioning that cannot be read counts as that of an old cluster.
  const isLegacy = provisioning === undefined || (provisioning.spec?.provisioningOSDownloadURL ?? '') !== ''
  if (platform === 'BareMetal' && !isLegacy) return { mode: 'None' }
  if (isSingleNode) return { mode: 'None' }
  if (MANAGED_PLATFORMS.includes(platform)) return { mode: 'Automatic', automatic: {} }
  return { mode: 'Manual', manual: { mode: 'OCPVersion', ocpVersion: installed === '' ? '0.0.0' : installed } }
}

/** The message with which machine-config is not upgradeable; undefined where the boot images are new enough. */
export function skewMessage({ mode, manual, automatic }: SkewEnforcement): string | undefined {
  if (mode === 'None') return undefined
  const { ocpVersion, rhcosVersion } = (mode === 'Manual' ? manual : automatic) ?? {}
  if (ocpVersion !== undefined && ocpVersion !== '')
    return isOlder(ocpVersion, OLDEST_OCP)
      ? `the cluster is using OCP boot image version ${ocpVersion}, which is below the minimum required version ${OLDEST_OCP}`
      : undefined
  const rhel = rhcosVersion === undefined ? undefined : rhelOf(rhcosVersion)
  if (!rhel) return undefined
  const [major, minor] = rhel
  const isOld = major < OLDEST_RHEL[0] || (major === OLDEST_RHEL[0] && minor < OLDEST_RHEL[1])
  return isOld
    ? `the cluster is using RHCOS boot image version ${rhcosVersion}(RHEL version: ${major}.${minor}), which is below the minimum required RHEL version ${OLDEST_RHEL.join('.')}`
    : undefined
}

/** RHEL's version in one of RHCOS: `9.6.20250826-1`, or `48.84.202109241901-0`, whose second number is that of RHEL. */
function rhelOf(version: string): [number, number] | undefined {
  const [, first = '', second = '', date = ''] = /^(\d+)\.(\d+)\.(\d+)-\d+$/.exec(version) ?? []
  if (date.length === 8) return [Number(first), Number(second)]
  if (date.length === 12 && second.length >= 2) return [Number(second[0]), Number(second.slice(1))]
  return undefined
}
