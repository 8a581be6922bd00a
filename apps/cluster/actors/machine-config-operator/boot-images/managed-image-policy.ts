import type { AdmissionPolicy, Behaviours, ObjectReader } from '../../../../../base/kubernetes/index.js'
import { REFUSES_MANAGED_IMAGES } from '../machine-config-behaviours.js'
import { OS_IMAGE } from '../machine-config-names.js'
import { managedPlatforms } from './boot-image-platforms.js'

/** The policy that a release brings against `spec.managedBootImages` on platforms that have no such images. */
export const managedImagePolicy = (behaviours: Behaviours): AdmissionPolicy => ({
  name: 'managed-bootimages-platform-check',
  kind: 'MachineConfiguration',
  refuses: ({ after }, read) => {
    const { managedBootImages } = (after?.['spec'] ?? {}) as { managedBootImages?: object }
    const release = releaseIn(read)
    if (managedBootImages === undefined || release === undefined) return false
    return behaviours.of(release).has(REFUSES_MANAGED_IMAGES) && !managedPlatforms(release).includes(platformIn(read))
  },
  message: (read) =>
    `This feature is only supported on these platforms: ${managedPlatforms(releaseIn(read) ?? '').join(', ')}`,
})

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
