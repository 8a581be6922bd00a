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

export function capabilitiesProblem({ properties, instance_info }: Readonly<NodeRecord>): string | undefined {
  const places = [
    ['properties/capabilities', capabilitiesOf(properties.capabilities)],
    ["instance_info['capabilities']", capabilitiesOf(instance_info.capabilities)],
  ] as const
  for (const [name, valid] of Object.entries(KNOWN_CAPABILITIES))
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
    return Object.fromEntries(Object.entries(capabilities).map(([name, value]) => [name, formatClientValue(value)]))
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

/** Boot mode of a deployment; by default UEFI. */
export const bootModeOf = (node: Readonly<NodeRecord>): string => requestedBootMode(node) ?? 'uefi'

/** True if the instance asks for secure boot, and so for UEFI. */
export const isSecureBootRequested = ({ instance_info }: Readonly<NodeRecord>): boolean =>
  capabilitiesOf(instance_info.capabilities).secure_boot?.toLowerCase() === 'true'

/** Boot mode that the node's record requests, in upstream's order of places; undefined when it requests none. */
export function requestedBootMode(node: Readonly<NodeRecord>): string | undefined {
  const { instance_info, properties, driver_internal_info: info } = node
  if (isSecureBootRequested(node)) return 'uefi'
  const wanted = capabilitiesOf(instance_info.capabilities)
  const known = [
    wanted.boot_mode,
    instance_info.deploy_boot_mode,
    capabilitiesOf(properties.capabilities).boot_mode,
    info.deploy_boot_mode,
  ].find(Boolean)
  return known === undefined ? undefined : formatClientValue(known).toLowerCase()
}

/** A value in a sentence of Ironic: text as it is, anything else as Python shows it. */
export const pythonText = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value ?? null))
