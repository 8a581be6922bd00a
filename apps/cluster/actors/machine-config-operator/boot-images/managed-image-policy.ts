import type { AdmittedWrite, Behaviours, ObjectReader, PolicyRefusal } from '../../../../../base/kubernetes/index.js'
import { REFUSES_MANAGED_IMAGES } from '../machine-config-behaviours.js'
import { OS_IMAGE } from '../machine-config-names.js'

/**
 * Platforms whose boot images a release manages, by its minor number: manifests/machineconfigcontroller/
 * update-bootimages-validatingadmissionpolicy.yaml of the branches of machine-config-operator.
 */
const PLATFORMS: readonly { since: number; platforms: readonly string[] }[] = [
  { since: 16, platforms: ['GCP'] },
  { since: 17, platforms: ['GCP', 'AWS'] },
  { since: 20, platforms: ['GCP', 'AWS', 'VSphere'] },
  { since: 21, platforms: ['GCP', 'AWS', 'VSphere', 'Azure'] },
]

/** The policy that a release brings against `spec.managedBootImages` on platforms that have no such images. */
export const managedImagePolicy =
  (behaviours: Behaviours) =>
  ({ kind, after }: AdmittedWrite, read: ObjectReader): PolicyRefusal | undefined => {
    if (kind !== 'MachineConfiguration' || !after) return undefined
    const { managedBootImages } = (after['spec'] ?? {}) as { managedBootImages?: object }
    const release = releaseIn(read)
    if (managedBootImages === undefined || release === undefined) return undefined
    if (!behaviours.of(release).has(REFUSES_MANAGED_IMAGES)) return undefined
    const platforms = platformsOf(release)
    if (platforms.includes(platformIn(read))) return undefined
    return {
      policy: 'managed-bootimages-platform-check',
      binding: 'managed-bootimages-platform-check-binding',
      message: `This feature is only supported on these platforms: ${platforms.join(', ')}`,
    }
  }

function platformsOf(release: string): readonly string[] {
  const [major = 0, minor = 0] = release.split('.').map(Number)
  return PLATFORMS.findLast(({ since }) => major > 4 || minor >= since)?.platforms ?? []
}

function releaseIn(read: ObjectReader): string | undefined {
  const [found] = read.list('ConfigMap', {
    namespace: OS_IMAGE.namespace,
    fieldSelector: `metadata.name=${OS_IMAGE.name}`,
  })
  return (found?.['data'] as Record<string, string> | undefined)?.['releaseVersion']
}

function platformIn(read: ObjectReader): string {
  const [found] = read.list('Infrastructure', { fieldSelector: 'metadata.name=cluster' })
  const { platformStatus } = (found?.['status'] ?? {}) as { platformStatus?: { type?: string } }
  return platformStatus?.type ?? 'None'
}
