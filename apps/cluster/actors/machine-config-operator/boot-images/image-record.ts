import type { KubeClient, MachineConfiguration } from '../../../../../base/kubernetes/index.js'
import { BOOT_IMAGES } from '../machine-config-names.js'
import type { ImageCounts } from './image-conditions.js'

type Enforcement = NonNullable<NonNullable<MachineConfiguration['status']>['bootImageSkewEnforcementStatus']>

/**
 * The version of boot images that the cluster counts as having, after a pass: that of the release once all machine sets have
 * its image; that of the installation where one is skipped; as before after an error (machine-config-operator 7ff337a
 * pkg/controller/bootimage/boot_image_controller.go updateClusterBootImage, resetClusterBootImage).
 */
export async function recordedImage(
  before: Enforcement | undefined,
  { counts, errors }: { counts: ImageCounts; errors: readonly string[] },
  kube: KubeClient,
): Promise<Enforcement | undefined> {
  if (before?.mode !== 'Automatic' || errors.length > 0) return before
  const version =
    counts.sets.skipped > 0
      ? (await kube.find('ClusterVersion', { name: 'version' }))?.status?.history.at(-1)?.version
      : (await kube.find('ConfigMap', BOOT_IMAGES))?.data?.['releaseVersion']
  const ocpVersion = /^\d+\.\d+\.\d+/.exec(version ?? '')?.[0]
  return ocpVersion === undefined ? before : { mode: 'Automatic', automatic: { ocpVersion } }
}
