import { defined } from '../../../base/runtime/index.js'
import {
  pythonRepr,
  formatClientValue,
  type JsonObject,
  type NodeRecord,
  type RequestedStep,
} from '../../../base/wire/index.js'
import { agentProblem, bootModeOf, pythonText } from './agent-checks.js'
import { BOOT_INSTANCE_STEPS, DEPLOY_STEP, type DeployInterface } from './deploy-interface.js'

/** The agent writes an image of a disk or a partition. */
export const DIRECT: DeployInterface = {
  name: 'direct',
  preference: 2,
  supportedBy: 'every type',
  runs: 'agent',
  steps: [
    DEPLOY_STEP,
    { step: 'write_image', priority: 80, action: { kind: 'agent step', request: writeImageStep } },
    { step: 'prepare_instance_boot', priority: 60, action: { kind: 'make bootable' } },
    ...BOOT_INSTANCE_STEPS,
  ],
  problem: (candidate) =>
    agentProblem(candidate) ?? imageInfoProblem(candidate.node) ?? downloadProblem(candidate.node),
  checksImage: true,
  bootDeviceFailed: (uuid, error) => `Failed to change the boot device to disk when deploying node ${uuid}: ${error}`,
}

const IMAGE_TYPES = ['partition', 'whole-disk']

function imageInfoProblem({ uuid, instance_info: info }: Readonly<NodeRecord>): string | undefined {
  const source = info.image_source
  if (!source)
    return `Node ${uuid} failed to validate deploy image info. Some parameters were missing. Missing are: ['instance_info.image_source']`
  const type = info.image_type
  if (type && !IMAGE_TYPES.includes(formatClientValue(type)))
    return `Invalid image_type "${pythonText(type)}", valid are ${IMAGE_TYPES.join(', ')}`
  const url = formatClientValue(source)
  const { image_checksum: checksum, image_os_hash_algo: algorithm, image_os_hash_value: value } = info
  // Needs no checksum: that of a file is computed, that of a container is known.
  const known = url.startsWith('file://') || url.startsWith('oci://')
  if (known || (Boolean(value) === Boolean(algorithm) && (value || checksum))) return undefined
  return `image_source's "image_checksum", or "image_os_hash_algo" and "image_os_hash_value" must be provided in instance_info for node ${uuid}`
}

/** Problem with how the agent is to download the image. */
function downloadProblem({ instance_info, driver_info }: Readonly<NodeRecord>): string | undefined {
  const source = instance_info.image_download_source || driver_info.image_download_source
  if (source && !['swift', 'http', 'local'].includes(formatClientValue(source)))
    return `Invalid value for image_download_source: "${pythonText(source)}". Valid values are swift, http or local.`
  const invalid = ['image_http_proxy', 'image_https_proxy'].filter((name) => {
    const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(formatClientValue(driver_info[name] ?? ''))?.[1]?.toLowerCase()
    return scheme !== undefined && scheme !== 'http' && scheme !== 'https'
  })
  if (invalid.length === 0) return undefined
  const named = pythonRepr(Object.fromEntries(invalid.map((name) => [name, driver_info[name]])))
  return `Proxy URL should either have HTTP(S) scheme or no scheme at all, the following URLs are invalid: ${named}.`
}

/** The configdrive is added when the step is sent. */
function writeImageStep(node: Readonly<NodeRecord>): RequestedStep {
  return { interface: 'deploy', step: 'write_image', args: { image_info: imageInfo(node), configdrive: null } }
}

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
    id: formatClientValue(info.image_source).split('/').at(-1),
    urls: [info.image_url],
    disk_format: info.image_disk_format ?? null,
    container_format: info.image_container_format ?? null,
    stream_raw_images: true,
    ...defined({ checksum: info.image_checksum || undefined }),
    ...(hashed ? { os_hash_algo: info.image_os_hash_algo, os_hash_value: info.image_os_hash_value } : {}),
    ...defined({ image_request_authorization: base64Of(info.image_request_authorization_secret) }),
    ...(Object.keys(proxies).length > 0 ? { proxies, ...noProxy(driver) } : {}),
    node_uuid: uuid,
    ...(node.driver_internal_info.is_whole_disk_image === true ? {} : partitionInfo(node)),
  }
}

const base64Of = (secret: unknown): string | undefined =>
  typeof secret === 'string' && secret ? Buffer.from(secret).toString('base64') : undefined

const noProxy = ({ image_no_proxy: no_proxy }: JsonObject): JsonObject => (no_proxy === undefined ? {} : { no_proxy })

const partitionInfo = (node: Readonly<NodeRecord>): JsonObject => ({
  ...Object.fromEntries(PARTITION_LABELS.map((label) => [label, node.instance_info[label] ?? null])),
  deploy_boot_mode: bootModeOf(node),
  boot_option: 'local',
})
