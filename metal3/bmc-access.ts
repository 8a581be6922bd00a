import { maskedAddress } from '../base/bytes/index.js'
import { UserError, defined, ownMember } from '../base/runtime/index.js'
import type { JsonObject } from '../base/wire/index.js'

/** Driver, interfaces and `driver_info` that BareMetal Operator derives from `spec.bmc`. */
export interface BmcAccess {
  scheme: string
  driver: 'ipmi' | 'redfish' | 'idrac'
  /** Includes the account. */
  driverInfo: JsonObject
  /** Interfaces that the request sets, `raid_interface` among them; the driver chooses the others. */
  interfaces: Readonly<Record<string, string>>
  /** True when the BMC boots an ISO, from a virtual drive or by UEFI HTTP. */
  takesIso: boolean
  needsMac: boolean
}

export interface BmcCredentials {
  username: string
  password: string
  disableCertificateVerification?: boolean
}

interface BmcAddress {
  transport: 'http' | 'https'
  /** IPv6 in brackets. */
  host: string
  port: string | undefined
  path: string
  query: URLSearchParams
}

type BmcAccessKind = Omit<BmcAccess, 'scheme' | 'driverInfo'> & {
  info: (address: BmcAddress, account: BmcCredentials) => JsonObject
}

const IPMI: BmcAccessKind = {
  driver: 'ipmi',
  interfaces: { boot_interface: 'ipxe', raid_interface: 'no-raid' },
  takesIso: false,
  needsMac: false,
  info: ({ host, port, query }, account) => ({
    ipmi_port: port ?? '623',
    ipmi_username: account.username,
    ipmi_password: account.password,
    ipmi_address: host.replace(/^\[|\]$/g, ''),
    ipmi_priv_level: query.get('privilegelevel') ?? 'ADMINISTRATOR',
    ...defined({ ipmi_verify_ca: account.disableCertificateVerification ? false : undefined }),
  }),
}

const redfish = (boot: string, more: Partial<BmcAccessKind> = {}): BmcAccessKind => ({
  driver: 'redfish',
  interfaces: { boot_interface: boot, firmware_interface: 'redfish', raid_interface: 'redfish' },
  takesIso: boot !== 'ipxe',
  needsMac: false,
  info: (address, account) => bmcRedfishInfo(address, account, boot === 'redfish-https'),
  ...more,
})

const idrac = (boot: string): BmcAccessKind =>
  redfish(boot, {
    driver: 'idrac',
    interfaces: {
      boot_interface: boot,
      firmware_interface: 'redfish',
      raid_interface: 'idrac-redfish',
      bios_interface: 'idrac-redfish',
      management_interface: 'idrac-redfish',
      power_interface: 'idrac-redfish',
      vendor_interface: 'idrac-redfish',
    },
  })

/** BMC kinds by the scheme of their address; a suffix such as `+https` is not part of the key. */
const BMC_SCHEMES: Readonly<Record<string, BmcAccessKind>> = {
  ipmi: IPMI,
  libvirt: { ...IPMI, needsMac: true },
  redfish: redfish('ipxe'),
  'ilo5-redfish': redfish('ipxe'),
  'redfish-virtualmedia': redfish('redfish-virtual-media'),
  'ilo5-virtualmedia': redfish('redfish-virtual-media'),
  'redfish-uefihttp': redfish('redfish-https'),
  'idrac-redfish': idrac('ipxe'),
  'idrac-virtualmedia': idrac('idrac-redfish-virtual-media'),
}

/** Capture groups: scheme, transport, host, port, path, query. */
const ADDRESS =
  /^([a-z][a-z0-9-]*)(?:\+(\w+))?:\/\/(\[[0-9a-f:.]+\]|[^:/?#[\]@\s]+)(?::(\d+))?(\/[^?#\s]*)?(?:\?(\S*))?$/i

/**
 * Reads `spec.bmc.address`: the scheme chooses driver and interfaces; `+http` or `+https` chooses Redfish's transport.
 *
 * @throws UserError (usage) for a malformed address and for a scheme that BareMetal Operator does not know
 */
export function bmcAccess(address: string, account: BmcCredentials): BmcAccess {
  // BareMetal Operator reads an address without a scheme as IPMI.
  const match = ADDRESS.exec(address.includes('://') ? address : `ipmi://${address}`)
  if (!match) throw wrongAddress(address, 'it is not SCHEME://HOST[:PORT][/PATH]')
  const [, scheme = '', transport = 'https', host = '', port, path = '', query = ''] = match
  const kind = ownMember(BMC_SCHEMES, scheme)
  if (!kind) throw wrongAddress(address, `its scheme is none of ${Object.keys(BMC_SCHEMES).join(', ')}`)
  if (transport !== 'http' && transport !== 'https')
    throw wrongAddress(address, `after the plus comes http or https, not ${transport}`)
  const { info, ...access } = kind
  const driverInfo = info({ transport, host, port, path, query: new URLSearchParams(query) }, account)
  return { ...access, scheme, driverInfo }
}

function bmcRedfishInfo(
  { transport, host, port, path }: BmcAddress,
  account: BmcCredentials,
  alwaysSystem: boolean,
): JsonObject {
  const system = path.replace(/^\/+|\/+$/g, '')
  // Without a system id Ironic's Redfish driver uses the BMC's only system.
  const isNamed = system !== '' && system !== 'redfish/v1'
  return {
    redfish_address: `${transport}://${host}${port === undefined ? '' : `:${port}`}`,
    redfish_username: account.username,
    redfish_password: account.password,
    ...defined({
      redfish_system_id: isNamed || alwaysSystem ? path : undefined,
      redfish_verify_ca: account.disableCertificateVerification ? false : undefined,
    }),
  }
}

const wrongAddress = (address: string, reason: string): UserError =>
  new UserError('bmc-address', `the BMC address ${JSON.stringify(maskedAddress(address))} cannot be used: ${reason}`, {
    kind: 'usage',
    remedy: 'write it as in redfish-virtualmedia+https://10.0.0.1/redfish/v1/Systems/1',
  })
