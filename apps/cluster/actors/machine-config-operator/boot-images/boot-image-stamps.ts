import { sha256Hex } from '../../../../../base/bytes/index.js'
import {
  isTrue,
  type ConfigMap,
  type KubeClient,
  type MachineConfigPool,
} from '../../../../../base/kubernetes/index.js'
import { BOOT_IMAGES, GENERATED_BY, STAMPED_HASH, STAMPED_RELEASE } from '../machine-config-names.js'

/** Commit of the operator of a release: each release has another. */
const hashOf = (release: string): string => sha256Hex(`machine-config-operator ${release}`).slice(0, 40)

/** True if the boot images are stamped by the operator of a release (release-4.21 pkg/controller/bootimage/ms_helpers.go). */
export const isStampedBy = ({ data = {} }: ConfigMap, release: string): boolean =>
  data[STAMPED_HASH] === hashOf(release) && data['releaseVersion'] === release

/**
 * Stamps the boot images once the pool of the control plane has a node with the configuration of the release
 * (machine-config-operator 7ff337a pkg/operator/sync.go stampBootImagesConfigMap).
 *
 * @returns whether they have been stamped now
 */
export async function stampBootImages(kube: KubeClient, release: string): Promise<boolean> {
  const pool = await kube.find('MachineConfigPool', { name: 'master' })
  const name = pool?.spec.configuration?.name
  const rendered = name === undefined ? undefined : await kube.find('MachineConfig', { name })
  if (!pool || rendered?.metadata.annotations?.[GENERATED_BY] !== release || !hasUpdatedNode(pool)) return false
  const found = await kube.find('ConfigMap', BOOT_IMAGES)
  const stamps = { [STAMPED_HASH]: hashOf(release), [STAMPED_RELEASE]: release }
  if (!found || Object.entries(stamps).every(([key, value]) => found.data?.[key] === value)) return false
  await kube.patch('ConfigMap', BOOT_IMAGES, { data: stamps })
  return true
}

function hasUpdatedNode({ spec, status }: MachineConfigPool): boolean {
  if (isTrue(status?.conditions, 'Updating')) return (status?.updatedMachineCount ?? 0) > 0
  return isTrue(status?.conditions, 'Updated') && spec.configuration?.name === status?.configuration?.name
}
