import {
  HintError,
  parseRootDeviceHints,
  pythonRepr,
  textOf,
  type JsonObject,
  type NodeRecord,
  type PortRecord,
} from '../../wire/index.js'
import { isUuid } from '../api/formats.js'
import { implementation } from './hardware-types.js'
import { bootProblem } from './requirements.js'

const IMAGE_TYPES = ['partition', 'whole-disk']
const CAPABILITIES: Readonly<Record<string, readonly string[]>> = {
  boot_mode: ['bios', 'uefi'],
  secure_boot: ['true', 'false'],
  disk_label: ['msdos', 'gpt'],
}

/**
 * Reason why the node cannot be deployed as it is, in upstream's words; undefined when it can be. The agent checks
 * which disk the hints match, and the contents of images.
 *
 * @param node with the actual deploy interface in place of `autodetect`
 */
export function deployProblem(node: Readonly<NodeRecord>, ports: readonly PortRecord[]): string | undefined {
  switch (node.deploy_interface) {
    case 'fake':
    case 'noop':
      return undefined
    case 'ramdisk':
      return ramdiskProblem(node) ?? bootProblem(node, ports) ?? liveImageProblem(node) ?? capabilitiesProblem(node)
    case 'direct':
      return agentProblem(node, ports) ?? imageProblem(node) ?? downloadProblem(node)
    case 'bootc':
      return agentProblem(node, ports) ?? containerProblem(node)
    default:
      return agentProblem(node, ports)
  }
}

/** Problem that a boot interface's validation finds for an instance that runs from memory. */
export function ramdiskBootProblem(node: Readonly<NodeRecord>, ports: readonly PortRecord[]): string | undefined {
  if (node.boot_interface === 'fake') return undefined
  const { image_source, boot_iso, kernel, ramdisk } = node.instance_info
  if (boot_iso || (image_source && !kernel && !ramdisk)) return bootProblem(node, ports) ?? liveImageProblem(node)
  const missing = ['kernel', 'ramdisk'].filter((name) => !node.instance_info[name])
  const incomplete = `Cannot validate image information for node ${node.uuid} because one or more parameters are missing from its instance_info and insufficient information is present to boot from a remote volume. Missing are: ${pythonRepr(missing)}`
  return bootProblem(node, ports) ?? (missing.length > 0 ? incomplete : undefined)
}

const agentProblem = (node: Readonly<NodeRecord>, ports: readonly PortRecord[]): string | undefined =>
  bootProblem(node, ports) ?? capabilitiesProblem(node) ?? hintsProblem(node)

function ramdiskProblem({ boot_interface: boot }: Readonly<NodeRecord>): string | undefined {
  if (implementation('boot', boot)?.bootsRamdisks) return undefined
  return 'Invalid configuration: The boot interface must have the `ramdisk_boot` capability. You are using an incompatible boot interface.'
}

function liveImageProblem({ instance_info: info }: Readonly<NodeRecord>): string | undefined {
  const { image_source, boot_iso } = info
  if (image_source && boot_iso)
    return "An 'image_source' and 'boot_iso' parameter may not be specified at the same time."
  if (boot_iso) return undefined
  const missing = ['kernel', 'ramdisk'].filter((name) => !info[name])
  if (missing.length === 0) return undefined
  return `Image ${pythonText(image_source)} is missing the following properties: ${missing.join(', ')}`
}

function imageProblem({ uuid, instance_info: info }: Readonly<NodeRecord>): string | undefined {
  const source = info.image_source
  if (!source)
    return `Node ${uuid} failed to validate deploy image info. Some parameters were missing. Missing are: ['instance_info.image_source']`
  const type = info.image_type
  if (type && !IMAGE_TYPES.includes(textOf(type)))
    return `Invalid image_type "${pythonText(type)}", valid are ${IMAGE_TYPES.join(', ')}`
  const url = textOf(source)
  const { image_checksum: checksum, image_os_hash_algo: algorithm, image_os_hash_value: value } = info
  // Needs no checksum: that of a file is computed, that of a container is known.
  const known = url.startsWith('file://') || url.startsWith('oci://')
  if (known || (Boolean(value) === Boolean(algorithm) && (value || checksum))) return undefined
  return `image_source's "image_checksum", or "image_os_hash_algo" and "image_os_hash_value" must be provided in instance_info for node ${uuid}`
}

/** Problem with how the agent is to download the image. */
function downloadProblem({ instance_info, driver_info }: Readonly<NodeRecord>): string | undefined {
  const source = instance_info.image_download_source || driver_info.image_download_source
  if (source && !['swift', 'http', 'local'].includes(textOf(source)))
    return `Invalid value for image_download_source: "${pythonText(source)}". Valid values are swift, http or local.`
  const invalid = ['image_http_proxy', 'image_https_proxy'].filter((name) => {
    const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(textOf(driver_info[name] ?? ''))?.[1]?.toLowerCase()
    return scheme !== undefined && scheme !== 'http' && scheme !== 'https'
  })
  if (invalid.length === 0) return undefined
  const named = pythonRepr(Object.fromEntries(invalid.map((name) => [name, driver_info[name]])))
  return `Proxy URL should either have HTTP(S) scheme or no scheme at all, the following URLs are invalid: ${named}.`
}

function containerProblem({ instance_info: { image_source: source } }: Readonly<NodeRecord>): string | undefined {
  if (typeof source === 'string' && source.startsWith('oci://')) return undefined
  return `Invalid image href ${pythonText(source)}.`
}

function capabilitiesProblem({ properties, instance_info }: Readonly<NodeRecord>): string | undefined {
  const places = [
    ['properties/capabilities', capabilitiesOf(properties.capabilities)],
    ["instance_info['capabilities']", capabilitiesOf(instance_info.capabilities)],
  ] as const
  for (const [name, valid] of Object.entries(CAPABILITIES))
    for (const [place, found] of places) {
      const value = found[name]
      if (value && !valid.includes(value))
        return `The parameter '${name}' from ${place} has an invalid value: '${value}'. Acceptable values are: ${valid.join(', ')}.`
    }
  return undefined
}

/** Capabilities of `properties` (`name:value,name:value`) or of `instance_info` (an object, or JSON of one). */
export function capabilitiesOf(capabilities: unknown): Readonly<Record<string, string>> {
  if (typeof capabilities === 'object' && capabilities !== null)
    return Object.fromEntries(Object.entries(capabilities).map(([name, value]) => [name, textOf(value)]))
  if (typeof capabilities !== 'string') return {}
  if (capabilities.trimStart().startsWith('{'))
    try {
      return capabilitiesOf(JSON.parse(capabilities))
    } catch {
      return {}
    }
  return Object.fromEntries(
    capabilities
      .split(',')
      .map((pair) => pair.split(':'))
      .flatMap(([name, value]) => (name && value ? [[name.trim(), value.trim()]] : [])),
  )
}

function hintsProblem(node: Readonly<NodeRecord>): string | undefined {
  const own = node.instance_info.root_device
  const hints = own || node.properties.root_device
  if (!hints) return undefined
  const failed = (error: string): string =>
    `Failed to validate the root device hints ${pythonRepr(hints)} (from the node's ${own ? 'instance_info' : 'properties'}) for node ${node.uuid}: ${error}`
  if (typeof hints !== 'object' || Array.isArray(hints)) return failed('the hints must be an object')
  try {
    parseRootDeviceHints(hints as JsonObject)
    return undefined
  } catch (error) {
    if (error instanceof HintError) return failed(error.message)
    throw error
  }
}

const pythonText = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value ?? null))

/** Boot mode of a deployment; by default UEFI. */
export const bootModeOf = (node: Readonly<NodeRecord>): string => requestedBootMode(node) ?? 'uefi'

/** Boot mode that the node's record requests, in upstream's order of places; undefined when it requests none. */
export function requestedBootMode({
  instance_info,
  properties,
  driver_internal_info: info,
}: Readonly<NodeRecord>): string | undefined {
  const wanted = capabilitiesOf(instance_info.capabilities)
  if (wanted.secure_boot?.toLowerCase() === 'true') return 'uefi'
  const known = [
    wanted.boot_mode,
    instance_info.deploy_boot_mode,
    capabilitiesOf(properties.capabilities).boot_mode,
    info.deploy_boot_mode,
  ].find(Boolean)
  return known === undefined ? undefined : textOf(known).toLowerCase()
}

/** Reason why an image source is not valid, in upstream's words; upstream answers them with a 500. */
export function imageSourceProblem(source: unknown): string | undefined {
  if (!source) return undefined
  const failed = (reason: string): string => `Validation of image href ${pythonText(source)} failed, reason: ${reason}`
  const text = textOf(source)
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined)
    return isUuid(text) || text.startsWith('glance://')
      ? failed('there is no image service (Glance) here')
      : failed('Scheme-less image href is not a UUID.')
  if (['http', 'https', 'file', 'oci'].includes(scheme)) return undefined
  return failed(
    scheme === 'glance'
      ? 'there is no image service (Glance) here'
      : `Image download protocol ${scheme} is not supported.`,
  )
}
