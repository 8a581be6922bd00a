import { maskedAddress } from '../../base/bytes/index.js'
import { UserError, defined, ownMember } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { GoUrlError, hostNameOf, portOf, type GoUrl } from '../go/url.js'
import { parseBmcUrl } from './bmc-url.js'

/** Driver, interfaces and `driver_info` that BareMetal Operator derives from `spec.bmc`. */
export interface BmcAccess {
  /** Scheme of the address, with the transport: `redfish+https`. */
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

type BmcAccessKind = Omit<BmcAccess, 'scheme' | 'driverInfo'> & {
  /** True if the scheme may name the transport: `redfish+http`. */
  overHttp: boolean
  info: (address: GoUrl, account: BmcCredentials) => JsonObject
}

const IPMI: BmcAccessKind = {
  driver: 'ipmi',
  interfaces: { boot_interface: 'ipxe', raid_interface: 'no-raid' },
  takesIso: false,
  needsMac: false,
  overHttp: false,
  info: (url, account) => ({
    ipmi_port: portOf(url) || '623',
    ipmi_username: account.username,
    ipmi_password: account.password,
    ipmi_address: hostNameOf(url),
    ipmi_priv_level: new URLSearchParams(url.query).get('privilegelevel') ?? 'ADMINISTRATOR',
    ...defined({ ipmi_verify_ca: account.disableCertificateVerification ? false : undefined }),
  }),
}

const redfish = (boot: string, more: Partial<BmcAccessKind> = {}): BmcAccessKind => ({
  driver: 'redfish',
  interfaces: { boot_interface: boot, firmware_interface: 'redfish', raid_interface: 'redfish' },
  takesIso: boot !== 'ipxe',
  needsMac: false,
  overHttp: true,
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

/**
 * Reads `spec.bmc.address`: the scheme chooses driver and interfaces; `+http` or `+https` chooses Redfish's transport
 * (NewAccessDetails of pkg/hardwareutils/bmc/access.go).
 *
 * @throws UserError (usage) in BareMetal Operator's words if the address is malformed or its scheme unknown
 */
export function bmcAccess(address: string, account: BmcCredentials): BmcAccess {
  const url = readAddress(address)
  const [name = '', transport] = url.scheme.split('+', 2)
  const kind = ownMember(BMC_SCHEMES, name)
  const isKnown = kind && (transport === undefined || (kind.overHttp && ['http', 'https'].includes(transport)))
  if (!isKnown) throw wrongAddress(`Unknown BMC type '${url.scheme}' for address ${maskedAddress(address)}`)
  const { info, overHttp: _overHttp, ...access } = kind
  return { ...access, scheme: url.scheme, driverInfo: info(url, account) }
}

function readAddress(address: string): GoUrl {
  try {
    return parseBmcUrl(address)
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error
    const masked = maskedAddress(address)
    // The sentence may quote a part of the account too, where it is taken for something else.
    throw wrongAddress(
      masked === address ? error.message : `failed to parse BMC address information: parse "${masked}"`,
    )
  }
}

function bmcRedfishInfo({ scheme, host, path }: GoUrl, account: BmcCredentials, alwaysSystem: boolean): JsonObject {
  const [, transport = 'https'] = scheme.split('+', 2)
  const system = path.replace(/^\/+|\/+$/g, '')
  // Without a system id Ironic's Redfish driver uses the BMC's only system.
  const isNamed = system !== '' && system !== 'redfish/v1'
  return {
    redfish_address: `${transport}://${host}`,
    redfish_username: account.username,
    redfish_password: account.password,
    ...defined({
      redfish_system_id: isNamed || alwaysSystem ? path : undefined,
      redfish_verify_ca: account.disableCertificateVerification ? false : undefined,
    }),
  }
}

const wrongAddress = (message: string): UserError =>
  new UserError('bmc-address', message, {
    kind: 'usage',
    remedy: 'write it as in redfish-virtualmedia+https://10.0.0.1/redfish/v1/Systems/1',
  })
