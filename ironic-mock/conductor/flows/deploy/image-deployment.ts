import { defined } from '../../../../base/runtime/index.js'
import { completeConfigDrive } from '../../../drivers/config-drive-image.js'
import type { IdentifiedImage } from '../../containers/container-image.js'
import type { FoundImage } from '../../core/find-images.js'
import { formatClientValue } from '../../../../base/wire/index.js'
import type { JsonObject } from '../../../../base/wire/index.js'
import type { EffectBody } from '../../core/effects.js'
import type { ImageChecksum } from '../../core/image-checksum.js'
import type { NodeTask } from '../../core/node-task.js'

/** True for a whole-disk image: `image_type` goes before kernel and ramdisk; undefined without an image. */
function isWholeDisk({ image_source, image_type, kernel, ramdisk }: JsonObject): boolean | undefined {
  if (!image_source) return undefined
  if (image_type) return image_type !== 'partition'
  return !kernel && !ramdisk
}

/** Sets `image_type`, also over an invalid one (recorded). */
export function withImageType(info: JsonObject): JsonObject {
  const whole = isWholeDisk(info)
  return whole === undefined ? info : { ...info, image_type: whole ? 'whole-disk' : 'partition' }
}

/** Stores the image type, before the checks of a deployment and of an adoption. */
export function storeImageType(task: NodeTask): void {
  const { node } = task
  const whole = isWholeDisk(node.instance_info)
  if (whole === undefined) return
  node.instance_info = withImageType(node.instance_info)
  task.setInfo({ is_whole_disk_image: whole })
}

/** Checks that the image exists. A file without a checksum gets one, since the agent verifies images by it. */
export function findImage({ node }: NodeTask): EffectBody {
  const { image_source, image_checksum, image_os_hash_value } = node.instance_info
  const url = formatClientValue(image_source)
  const checksum = readByConductor(node, url) ? checksumOf(node.instance_info) : undefined
  return {
    kind: 'find-image',
    url,
    digest: !image_checksum && !image_os_hash_value,
    ...defined({ checksum }),
  }
}

/** True for an image that the conductor itself copies or downloads, and whose checksum it compares then. */
function readByConductor({ instance_info: info, driver_info: driver }: NodeTask['node'], url: string): boolean {
  return url.startsWith('file://') || (info.image_download_source || driver.image_download_source) === 'local'
}

/** `image_os_hash_value` goes before `image_checksum` wherever it is there (checksum_utils.py get_checksum_and_algo). */
function checksumOf(info: JsonObject): ImageChecksum | undefined {
  const isSpecific = 'image_os_hash_value' in info
  const value = isSpecific ? info.image_os_hash_value : info.image_checksum
  if (typeof value !== 'string') return undefined
  const algorithm = isSpecific && typeof info.image_os_hash_algo === 'string' ? info.image_os_hash_algo : null
  return { value, algorithm, mayBeUrl: !isSpecific }
}

/**
 * Stores the image's metadata in `instance_info`.
 *
 * @returns the image's error in upstream's words, if any
 */
export function keepFoundImage(task: NodeTask, found: FoundImage): string | undefined {
  const { node } = task
  const info: JsonObject = { ...node.instance_info, image_url: found.url }
  if (found.container) keepContainer(task, info, found.container)
  else if (info.image_source !== found.url) info.image_source = found.url
  if (found.format !== null) info.image_disk_format = found.format
  if (found.sha256 !== null) Object.assign(info, { image_os_hash_algo: 'sha256', image_os_hash_value: found.sha256 })
  if (node.driver_internal_info.is_whole_disk_image === false) {
    if (!info.root_gb) return "Some parameters were missing in node's instance_info. Missing are: ['root_gb']"
    Object.assign(info, layoutOf(info))
  }
  node.instance_info = info
  return undefined
}

/** As ironic 39.0.0 deploy_utils.py build_instance_info_for_deploy; `image_source` stays what the user has named. */
function keepContainer(task: NodeTask, info: JsonObject, container: IdentifiedImage): void {
  const { image_disk_format: format, ...rest } = container
  // Without a word about the format of an artifact, raw may be left from an earlier deployment.
  if (format === 'unknown' && info.image_disk_format === 'raw') delete info.image_disk_format
  else info.image_disk_format = format
  Object.assign(info, rest)
  task.setInfo({ image_source: container['oci_image_manifest_url'], container_image_type: 'oci_artifact' })
}

/** Partition sizes of a partition image, from GiB to MiB. */
function layoutOf({ root_gb, swap_mb, ephemeral_gb, ephemeral_format, preserve_ephemeral }: JsonObject): JsonObject {
  const ephemeral = Number(ephemeral_gb ?? 0)
  return {
    root_mb: 1024 * Number(root_gb),
    swap_mb: Number(swap_mb ?? 0),
    ephemeral_gb: ephemeral,
    ephemeral_mb: 1024 * ephemeral,
    ephemeral_format: ephemeral_format ?? (ephemeral > 0 ? 'ext4' : null),
    preserve_ephemeral: preserve_ephemeral === true || preserve_ephemeral === 'true',
  }
}

/** Completes a config drive that is an object with the node's metadata, and stores it, before it becomes an image. */
export function nameConfigDrive({ node }: NodeTask): void {
  const { configdrive } = node.instance_info
  if (typeof configdrive !== 'object' || configdrive === null) return
  node.instance_info = { ...node.instance_info, configdrive: completeConfigDrive(node, configdrive as JsonObject) }
}
