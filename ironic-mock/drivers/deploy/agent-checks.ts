import {
  HintError,
  parseRootDeviceHints,
  pythonRepr,
  formatClientValue,
  type JsonObject,
  type NodeRecord,
} from '../../../base/wire/index.js'
import type { DeployCandidate } from './deploy-interface.js'

const KNOWN_CAPABILITIES: Readonly<Record<string, readonly string[]>> = {
  boot_mode: ['bios', 'uefi'],
  secure_boot: ['true', 'false'],
  disk_label: ['msdos', 'gpt'],
}

/** Checks of every interface with an agent. */
export const agentProblem = ({ node, bootProblem }: DeployCandidate): string | undefined =>
  bootProblem ?? capabilitiesProblem(node) ?? hintsProblem(node)

export function capabilitiesProblem(node: Readonly<NodeRecord>): string | undefined {
  const own = capabilitiesOf(node.properties.capabilities)
  const wanted = instanceCapabilities(node)
  for (const [name, valid] of Object.entries(KNOWN_CAPABILITIES)) {
    const problem =
      valueProblem('properties/capabilities', name, own[name], valid) ??
      (wanted ? valueProblem("instance_info['capabilities']", name, wanted[name], valid) : unreadableCapabilities(node))
    if (problem !== undefined) return problem
  }
  return undefined
}

const valueProblem = (
  place: string,
  name: string,
  value: string | undefined,
  valid: readonly string[],
): string | undefined =>
  value && !valid.includes(value)
    ? `The parameter '${name}' from ${place} has an invalid value: '${value}'. Acceptable values are: ${valid.join(', ')}.`
    : undefined

/** Capabilities of `properties`: `name:value,name:value`, or an object, which Ironic does not read. */
export function capabilitiesOf(capabilities: unknown): Readonly<Record<string, string>> {
  if (isObject(capabilities)) return textsOf(capabilities)
  if (typeof capabilities !== 'string') return {}
  return Object.fromEntries(
    capabilities
      .split(',')
      .map((pair) => pair.split(':'))
      .flatMap(([name, value]) => (name && value ? [[name.trim(), value.trim()]] : [])),
  )
}

/**
 * Capabilities of `instance_info`: an object, or JSON of one; undefined where they are neither (ironic 39.0.0 common/utils.py
 * parse_instance_info_capabilities).
 */
function instanceCapabilities({
  instance_info: { capabilities = {} },
}: Pick<Readonly<NodeRecord>, 'instance_info'>): Readonly<Record<string, string>> | undefined {
  const read = typeof capabilities === 'string' ? jsonOf(capabilities) : capabilities
  return isObject(read) ? textsOf(read) : undefined
}

const unreadableCapabilities = ({ uuid }: Readonly<NodeRecord>): string =>
  `Error parsing capabilities from Node ${uuid} instance_info field. A dictionary or a "jsonified" dictionary is expected.`

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const textsOf = (values: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, formatClientValue(value)]))

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

/** Boot mode of a deployment; by default UEFI. */
export const bootModeOf = (node: Readonly<NodeRecord>): string => requestedBootMode(node) ?? 'uefi'

/** True if the instance asks for secure boot, and so for UEFI. */
export const isSecureBootRequested = (node: Readonly<NodeRecord>): boolean =>
  instanceCapabilities(node)?.secure_boot?.toLowerCase() === 'true'

/** Boot mode that the node's record requests, in upstream's order of places; undefined when it requests none. */
export function requestedBootMode(node: Readonly<NodeRecord>): string | undefined {
  const { instance_info, driver_internal_info: info } = node
  if (isSecureBootRequested(node)) return 'uefi'
  const known = [
    instanceCapabilities(node)?.boot_mode,
    instance_info.deploy_boot_mode,
    lockedBootMode(node),
    info.deploy_boot_mode,
  ].find(Boolean)
  return known === undefined ? undefined : formatClientValue(known).toLowerCase()
}

/** The only boot mode that a node may have. */
const lockedBootMode = ({ properties }: Readonly<NodeRecord>): string | undefined =>
  capabilitiesOf(properties.capabilities).boot_mode?.toLowerCase()

/**
 * The reason why no boot mode follows from a node's record: what is requested contradicts its properties, or cannot be read.
 * Secure boot goes before the properties (ironic 39.0.0 drivers/modules/boot_mode_utils.py get_boot_mode_for_deploy).
 */
export function bootModeProblem(node: Readonly<NodeRecord>): string | undefined {
  if (!instanceCapabilities(node)) return unreadableCapabilities(node)
  if (isSecureBootRequested(node)) return undefined
  const locked = lockedBootMode(node)
  const requested = requestedBootMode(node)
  if (!locked || requested === undefined || requested === locked) return undefined
  return `Node ${node.uuid} boot mode ${requested} violates node properties/capabilities ${locked}`
}

/** A value in a sentence of Ironic: text as it is, anything else as Python shows it. */
export const pythonText = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value ?? null))
