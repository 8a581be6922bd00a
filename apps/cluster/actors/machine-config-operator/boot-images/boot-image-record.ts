import type { KubeClient } from '../../../../../base/kubernetes/index.js'
import { MACHINE_CONFIG_NAMESPACE } from '../machine-config-names.js'

/** Keeps the version of the boot image that the cluster was installed with, and the skew that was found last. */
export const BOOT_IMAGE_RECORD = { name: 'boot-image-record', namespace: MACHINE_CONFIG_NAMESPACE }

/**
 * The version that the cluster was installed with, which is the oldest that it may install.
 *
 * @param present recorded if none is yet
 */
export async function initialVersion(kube: KubeClient, present: string | undefined): Promise<string | undefined> {
  const known = (await kube.find('ConfigMap', BOOT_IMAGE_RECORD))?.data?.['initial']
  if (known !== undefined || present === undefined) return known
  await writeRecord(kube, { initial: present })
  return present
}

/** Writes keys of the record; null removes one. */
export async function writeRecord(kube: KubeClient, data: Record<string, string | null>): Promise<void> {
  const found = await kube.find('ConfigMap', BOOT_IMAGE_RECORD)
  if (found) {
    const isNew = Object.entries(data).some(([key, value]) => (found.data?.[key] ?? null) !== value)
    if (isNew) await kube.patch('ConfigMap', BOOT_IMAGE_RECORD, { data })
    return
  }
  const present = Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== null)
  if (present.length === 0) return
  await kube.create<'ConfigMap'>({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: BOOT_IMAGE_RECORD,
    data: Object.fromEntries(present),
  })
}
