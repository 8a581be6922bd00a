import { defined } from '../../../../runtime/index.js'
import { bootModeOf } from '../../../drivers/deploy-requirements.js'
import { completeConfigDrive } from '../../../drivers/config-drive.js'
import type { FoundImage } from '../../core/find-images.js'
import { textOf } from '../../../../wire/index.js'
import type { JsonObject, NodeRecord, RequestedStep } from '../../../../wire/index.js'
import type { EffectBody } from '../../core/effects.js'
import type { NodeTask } from '../../core/node-task.js'

/** Fields of `image_info` that only a partition image has (recorded of real Ironic's agent driver). */
const PARTITION_LABELS = [
  'kernel',
  'ramdisk',
  'root_gb',
  'root_mb',
  'swap_mb',
  'ephemeral_mb',
  'ephemeral_format',
  'configdrive',
  'preserve_ephemeral',
  'image_type',
  'deploy_boot_mode',
]

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
  return { kind: 'find-image', url: textOf(image_source), digest: !image_checksum && !image_os_hash_value }
}

/**
 * Stores the image's metadata in `instance_info`.
 *
 * @returns the image's error in upstream's words, if any
 */
export function keepFoundImage({ node }: NodeTask, found: FoundImage): string | undefined {
  const info: JsonObject = { ...node.instance_info, image_url: found.url }
  if (info.image_source !== found.url) info.image_source = found.url
  if (found.format !== null) info.image_disk_format = found.format
  if (found.sha256 !== null) Object.assign(info, { image_os_hash_algo: 'sha256', image_os_hash_value: found.sha256 })
  if (node.driver_internal_info.is_whole_disk_image === false) {
    if (!info.root_gb) return "Some parameters were missing in node's instance_info. Missing are: ['root_gb']"
    Object.assign(info, layoutOf(info))
  }
  node.instance_info = info
  return undefined
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

/** The agent's step behind `write_image`; the configdrive is added when it is sent. */
export function writeImageStep({ node }: NodeTask): RequestedStep {
  return { interface: 'deploy', step: 'write_image', args: { image_info: imageInfo(node), configdrive: null } }
}

/** The agent's step behind `execute_bootc_install`; the configdrive is added when it is sent. */
export function bootcStep({ node }: NodeTask): RequestedStep {
  const { image_source, image_pull_secret: secret } = node.instance_info
  return {
    interface: 'deploy',
    step: 'execute_bootc_install',
    args: {
      image_source,
      configdrive: null,
      oci_pull_secret: typeof secret === 'string' && secret ? Buffer.from(secret).toString('base64') : null,
    },
  }
}

/** `image_info` for the agent, in the order of real Ironic. */
function imageInfo(node: Readonly<NodeRecord>): JsonObject {
  const { instance_info: info, driver_info: driver, uuid } = node
  const proxies = Object.fromEntries(
    ['http', 'https'].flatMap((scheme) =>
      driver[`image_${scheme}_proxy`] ? [[scheme, driver[`image_${scheme}_proxy`]]] : [],
    ),
  )
  const hashed = info.image_os_hash_algo && info.image_os_hash_value
  return {
    id: textOf(info.image_source).split('/').at(-1),
    urls: [info.image_url],
    disk_format: info.image_disk_format ?? null,
    container_format: info.image_container_format ?? null,
    stream_raw_images: true,
    ...defined({ checksum: info.image_checksum || undefined }),
    ...(hashed ? { os_hash_algo: info.image_os_hash_algo, os_hash_value: info.image_os_hash_value } : {}),
    ...(Object.keys(proxies).length > 0 ? { proxies, ...noProxy(driver) } : {}),
    node_uuid: uuid,
    ...(node.driver_internal_info.is_whole_disk_image === true ? {} : partitionInfo(node)),
  }
}

const noProxy = ({ image_no_proxy: no_proxy }: JsonObject): JsonObject => (no_proxy === undefined ? {} : { no_proxy })

const partitionInfo = (node: Readonly<NodeRecord>): JsonObject => ({
  ...Object.fromEntries(PARTITION_LABELS.map((label) => [label, node.instance_info[label] ?? null])),
  deploy_boot_mode: bootModeOf(node),
  boot_option: 'local',
})

/** Completes a config drive that is an object with the node's metadata, and stores it, before it becomes an image. */
export function nameConfigDrive({ node }: NodeTask): void {
  const { configdrive } = node.instance_info
  if (typeof configdrive !== 'object' || configdrive === null) return
  node.instance_info = { ...node.instance_info, configdrive: completeConfigDrive(node, configdrive as JsonObject) }
}
