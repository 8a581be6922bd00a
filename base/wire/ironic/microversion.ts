import { pythonInt } from '../python/python-int.js'
import { ironicErrors } from './errors.js'

/** The N of 1.N: Ironic's API has had one major version for ever. */
export type Microversion = number

/** The range of Ironic 39.0.0 (2026.2), which the recordings were made against. */
export const MIN_MICROVERSION: Microversion = 1
export const MAX_MICROVERSION: Microversion = 115

export const formatMicroversion = (minor: Microversion): string => `1.${minor}`

/** The three headers with which every answer says what it speaks; in lower case, as all names on our side of the wire. */
export const VERSION_HEADER = 'x-openstack-ironic-api-version'
const MIN_VERSION_HEADER = 'x-openstack-ironic-api-minimum-version'
export const MAX_VERSION_HEADER = 'x-openstack-ironic-api-maximum-version'

/** @param newest of the release that answers */
export const rangeHeaders = (newest: Microversion): Record<string, string> => ({
  [MIN_VERSION_HEADER]: formatMicroversion(MIN_MICROVERSION),
  [MAX_VERSION_HEADER]: formatMicroversion(newest),
})

/**
 * The version to answer in. The standard header (`OpenStack-API-Version: baremetal 1.80`, where other services may be
 * listed too) wins over Ironic's own; without either, or with an empty one, it is 1.1, the oldest.
 *
 * @param headers lower-case names
 * @param newest of the release that answers
 * @throws IronicError 406, in the shape of the router
 */
export function negotiate(
  headers: Readonly<Record<string, string>>,
  newest: Microversion = MAX_MICROVERSION,
): Microversion {
  const asked = standardHeader(headers['openstack-api-version']) ?? headers[VERSION_HEADER]?.split(',').at(-1)?.trim()
  if (!asked) return MIN_MICROVERSION
  if (asked.toLowerCase() === 'latest') return newest
  // The numbers are read by Python's int(), so that `1. 5` is 1.5 (microversion_parse parse_version_string).
  const [major, minor, ...more] = asked.split('.').map(pythonInt)
  if (major === undefined || minor === undefined || more.length > 0) throw ironicErrors.versionMalformed()
  const version = `${major}.${minor}`
  const range = `[${formatMicroversion(MIN_MICROVERSION)}, ${formatMicroversion(newest)}]`
  if (major !== 1) throw ironicErrors.versionMajor(version, range, rangeHeaders(newest))
  if (minor < MIN_MICROVERSION || minor > newest) throw ironicErrors.versionMinor(version, range, rangeHeaders(newest))
  return minor
}

/** The last of several versions for this service counts (microversion_parse check_standard_header). */
function standardHeader(value: string | undefined): string | undefined {
  for (const part of (value?.split(',') ?? []).reverse()) {
    const [, service, version] = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(part) ?? []
    if (service?.toLowerCase() === 'baremetal') return version
  }
  return undefined
}

/**
 * Which microversion brought what, where it is not a field of a resource nor a whole operation
 * (Ironic's source).
 */
export const SINCE = {
  availableState: 2,
  nodeNames: 5,
  fieldsQuery: 8,
  rfc3986Names: 10,
  enrollState: 11,
  subresourceLinks: 14,
  softPower: 27,
  driverDetail: 30,
  inspectWaitState: 39,
  detailQuery: 43,
  resetInterfaces: 45,
  configdriveOnRebuild: 35,
  conductors: 49,
  jsonConfigdrive: 56,
  vendorData: 59,
  agentToken: 62,
  deploySteps: 69,
  cleanDisableRamdisk: 70,
  driverFields: 77,
  continueInspection: 84,
  serviceSteps: 87,
  portNames: 88,
  /** From here on the end of a path is part of a name. */
  jsonSuffix: 91,
  runbooks: 92,
  portNodeIdent: 94,
  serviceDisableRamdisk: 108,
} as const satisfies Record<string, Microversion>

/** Links of `GET /v1` by the microversion that added them, in the order in which they are answered. */
export const ROOT_RESOURCES: readonly { name: string; since: Microversion }[] = [
  { name: 'chassis', since: 1 },
  { name: 'nodes', since: 1 },
  { name: 'ports', since: 1 },
  { name: 'drivers', since: 1 },
]
export const LATER_ROOT_RESOURCES: readonly { name: string; since: Microversion }[] = [
  { name: 'portgroups', since: 23 },
  { name: 'volume', since: 32 },
  { name: 'lookup', since: 22 },
  { name: 'heartbeat', since: 22 },
  { name: 'conductors', since: 49 },
  { name: 'allocations', since: 52 },
  { name: 'events', since: 54 },
  { name: 'deploy_templates', since: 55 },
  { name: 'shards', since: 82 },
  { name: 'runbooks', since: 92 },
  { name: 'inspection_rules', since: 96 },
  { name: 'continue_inspection', since: 84 },
]
