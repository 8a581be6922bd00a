import { isIP } from 'node:net'
import type { IronicNetworking, IronicObject } from '../../base/kubernetes/index.js'

export type IronicSpec = NonNullable<IronicObject['spec']>

/** Versions that the operator has images of (api/v1alpha1/ironic_types.go of ironic-standalone-operator c75aa29). */
const SUPPORTED_VERSIONS = ['35.0', '37.0', '38.0', 'latest']

const HOST_NETWORK_FIELDS = [
  'bindInterface',
  'dhcp',
  'interface',
  'ipAddress',
  'macAddresses',
  'keepalived',
] as const satisfies readonly (keyof IronicNetworking)[]

/**
 * Refusal of an Ironic's spec; undefined if it is taken: the operator's webhook (pkg/ironic/validation.go), and what it says
 * of versions (api/v1alpha1/version.go).
 */
export function ironicProblem(spec: IronicSpec): string | undefined {
  return deploymentProblem(spec) ?? networkingProblem(spec) ?? versionProblem(spec.version ?? '')
}

function deploymentProblem({ database, highAvailability, networking = {} }: IronicSpec): string | undefined {
  if (highAvailability && !database) return 'database is required for highly available architecture'
  if (database && (database.credentialsName === '' || database.host === '' || database.name === ''))
    return 'credentialsName, host and name are required on database'
  if (!highAvailability) return undefined
  if (networking.ipAddress) return 'networking.ipAddress makes no sense with highly available architecture'
  if (networking.dhcp) return 'DHCP support is not implemented in the highly available architecture'
  if (usesKeepalived(networking))
    return 'networking: keepalived is not compatible with the highly available architecture'
  return 'highly available architecture is disabled via feature gate'
}

const usesKeepalived = ({ ipAddressManager, keepalived }: IronicNetworking): boolean =>
  ipAddressManager === 'keepalived' || (keepalived?.enabled ?? false)

function networkingProblem({ networking = {} }: IronicSpec): string | undefined {
  const { ipAddress = '', externalIP = '', ingress, dhcp } = networking
  const { externalCallbackURL = '', imageServerExternalURL = '' } = networking
  const ofHost = HOST_NETWORK_FIELDS.filter((field) => isSet(networking[field]))
  if (networking.disableHostNetwork && ofHost.length > 0)
    return `networking.disableHostNetwork cannot be set to true together with ${HOST_NETWORK_FIELDS.map((field) => `networking.${field}`).join(' or ')}`
  const address = [ipAddress, externalIP].find((each) => each !== '' && isIP(each) === 0)
  if (address !== undefined) return `${address} is not a valid IP address`
  if (externalIP !== '' && (ingress || externalCallbackURL !== '' || imageServerExternalURL !== ''))
    return 'networking.externalIP cannot be set together with networking.ingress or networking.externalCallbackURL or networking.imageServerExternalURL'
  if (!ingress && (externalCallbackURL === '') !== (imageServerExternalURL === ''))
    return 'when networking.ingress is not set, networking.externalCallbackURL and networking.imageServerExternalURL must be set together'
  if (usesKeepalived(networking) && (ipAddress === '' || !networking.interface))
    return 'networking: keepalived requires specifying both ipAddress and interface'
  if (networking.ipAddressManager === 'keepalived' && networking.keepalived?.enabled)
    return 'networking: keepalived and ipAddressManager cannot be used together'
  return dhcp && dhcpProblem(dhcp, networking)
}

const isSet = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '' && value !== false

function dhcpProblem(dhcp: NonNullable<IronicNetworking['dhcp']>, networking: IronicNetworking): string | undefined {
  const { ipAddress, interface: nic, macAddresses = [] } = networking
  if (!ipAddress && !nic && macAddresses.length === 0)
    return 'networking: at least one of ipAddress, interface or macAddresses is required when DHCP is used'
  if (dhcp.serveDNS && dhcp.dnsAddress) return 'networking.dhcp.dnsAddress cannot set together with serveDNS'
  const range = [dhcp.networkCIDR, dhcp.rangeBegin, dhcp.rangeEnd].filter(isSet)
  if (range.length > 0 && range.length < 3)
    return 'networking.dhcp: networkCIDR, rangeBegin and rangeEnd must be set together'
  return range.length === 0 && !dhcp.extraRanges?.length
    ? 'networking.dhcp: networkCIDR, rangeBegin and rangeEnd are required unless extraRanges is set'
    : undefined
}

function versionProblem(version: string): string | undefined {
  if (version === '' || version === 'latest') return undefined
  const dot = version.indexOf('.')
  if (dot < 0) return `invalid version ${version}, expected MAJOR.MINOR`
  const major = version.slice(0, dot)
  const minor = version.slice(dot + 1)
  if (!/^[+]?\d+$/.test(major) || Number(major) === 0) return `invalid major version ${major} in ${version}`
  if (!/^[+-]?\d+$/.test(minor)) return `invalid minor version ${minor} in ${version}`
  return SUPPORTED_VERSIONS.includes(version)
    ? undefined
    : `version ${version} is not supported, supported versions are ${SUPPORTED_VERSIONS.join(', ')}`
}
