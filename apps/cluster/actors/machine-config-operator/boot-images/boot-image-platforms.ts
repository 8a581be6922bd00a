import { reachesRelease } from '../../../../../base/kubernetes/index.js'

/**
 * A platform whose boot images the machine config operator manages, with the first releases that do so (branches of
 * machine-config-operator: manifests/machineconfigcontroller/update-bootimages-validatingadmissionpolicy.yaml,
 * pkg/controller/common/featuregates.go CheckBootImagePlatform).
 */
interface BootImagePlatform {
  /** As the Infrastructure names it. */
  type: 'GCP' | 'AWS' | 'VSphere' | 'Azure'
  since: string
  /** Since when machine sets are managed without being asked for. */
  byDefaultSince: string
  /** Since when the ControlPlaneMachineSet may be managed too: where its feature gate is on by default. */
  controlPlaneSince?: string
}

/** In the order in which the policy names them. */
const PLATFORMS: readonly BootImagePlatform[] = [
  { type: 'GCP', since: '4.16', byDefaultSince: '4.19', controlPlaneSince: '4.22' },
  { type: 'AWS', since: '4.17', byDefaultSince: '4.19', controlPlaneSince: '4.22' },
  { type: 'VSphere', since: '4.20', byDefaultSince: '4.22' },
  { type: 'Azure', since: '4.21', byDefaultSince: '4.22', controlPlaneSince: '4.22' },
]

/** Names of the platforms whose boot images a release manages. */
export const managedPlatforms = (release: string): string[] =>
  PLATFORMS.filter(({ since }) => reachesRelease(release, since)).map(({ type }) => type)

/** Support of a release for boot images on a platform. */
export interface PlatformSupport {
  isManaged: boolean
  isManagedByDefault: boolean
  managesControlPlane: boolean
}

export function platformSupport(platform: string, release: string): PlatformSupport {
  const found = PLATFORMS.find(({ type, since }) => type === platform && reachesRelease(release, since))
  const { byDefaultSince, controlPlaneSince } = found ?? {}
  return {
    isManaged: found !== undefined,
    isManagedByDefault: byDefaultSince !== undefined && reachesRelease(release, byDefaultSince),
    managesControlPlane: controlPlaneSince !== undefined && reachesRelease(release, controlPlaneSince),
  }
}
