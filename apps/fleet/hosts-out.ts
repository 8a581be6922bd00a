import { realpath } from 'node:fs/promises'
import { extname } from 'node:path'
import { stringify } from 'yaml'
import { defined, withClockHeld, replaceFile, UserError, type Clock } from '../../base/runtime/index.js'
import type { FleetHost } from './fleet-hosts.js'
import { isMachineId } from './sushy-system.js'
import { nodeFields } from './node-fields.js'

const HOSTS_FORMATS: Readonly<Record<string, (hosts: readonly FleetHost[], options: HostsOutOptions) => string>> = {
  '.json': nodesText,
  '.yaml': manifestsText,
  '.yml': manifestsText,
  '.csv': csvText,
}

export interface HostsOutOptions {
  /** Boot interface of the nodes. */
  bootInterface: 'redfish-virtual-media' | 'redfish-https' | 'ipxe' | (string & {})
  /** Hardware type of the nodes. Default `redfish`. */
  driver?: 'redfish' | 'ipmi'
  /** Further driver_info of the nodes. BareMetalHosts and inventories have no place for it. */
  driverInfo: Readonly<Record<string, string>>
}

/**
 * The machines of a fleet for other programs, by the ending of a file's name: `.json` for `baremetal create`, `.yaml` with a
 * BareMetalHost and a Secret each, `.csv` as an inventory.
 *
 * @throws UserError `hosts-out` (usage) for another ending, or a boot interface that a BareMetalHost cannot name
 */
export function hostsText(file: string, hosts: readonly FleetHost[], options: HostsOutOptions): string {
  const text = HOSTS_FORMATS[extname(file)]
  if (text) return text(hosts, options)
  throw new UserError('hosts-out', `${file} does not say in which form the machines are to be listed`, {
    kind: 'usage',
    remedy: 'end its name with .json for baremetal create, .yaml for BareMetalHosts or .csv for an inventory',
  })
}

/**
 * Writes {@link hostsText} to a file that only its owner can read, since it has the passwords of the BMCs.
 *
 * @throws UserError `hosts-out`
 */
export async function writeHosts(
  file: string,
  hosts: readonly FleetHost[],
  options: HostsOutOptions & { clock: Clock },
): Promise<void> {
  const text = hostsText(file, hosts, options)
  try {
    await withClockHeld(options.clock, `writing ${file}`, async () => {
      // A link stays one: the file that it leads to is replaced.
      await replaceFile(await realpath(file).catch(() => file), text, { flush: false })
    })
  } catch (cause) {
    throw new UserError('hosts-out', `${file} cannot be written`, { cause })
  }
}

function nodesText(hosts: readonly FleetHost[], options: HostsOutOptions): string {
  const nodes = hosts.map((host) => {
    const { ports, ...fields } = nodeFields(host, options)
    return { ...fields, ports }
  })
  return `${JSON.stringify({ nodes }, null, 2)}\n`
}

/** BareMetal Operator's name for the boot interface, in the address of a BMC. */
const BMO_DRIVERS: Readonly<Record<string, string>> = {
  'redfish-virtual-media': 'redfish-virtualmedia',
  'redfish-https': 'redfish-uefihttp',
  ipxe: 'redfish',
}

/** Host and port of a BMC that takes IPMI, an IPv6 address in brackets. */
const ipmiText = ({ ipmi }: FleetHost): string =>
  ipmi ? `${ipmi.host.includes(':') ? `[${ipmi.host}]` : ipmi.host}:${ipmi.port}` : ''

/** A BMC as BareMetal Operator writes it. */
function bmcAddress(host: FleetHost, { bootInterface, driver }: HostsOutOptions): string {
  if (driver === 'ipmi') return `ipmi://${ipmiText(host)}`
  return `${BMO_DRIVERS[bootInterface]}+${host.bmc}${host.system}`
}

/** BareMetal Operator derives the boot interface from the address of the BMC. */
function refuseUnnamedInterface({ bootInterface, driver = 'redfish' }: HostsOutOptions): void {
  const possible = driver === 'ipmi' ? ['ipxe'] : Object.keys(BMO_DRIVERS)
  if (possible.includes(bootInterface)) return
  throw new UserError('hosts-out', `a BareMetalHost of ${driver} cannot have the boot interface ${bootInterface}`, {
    kind: 'usage',
    remedy: `use ${possible.join(' or ')}, or write nodes to a .json file`,
  })
}

function manifestsText(hosts: readonly FleetHost[], options: HostsOutOptions): string {
  refuseUnnamedInterface(options)
  const documents = hosts.flatMap((host) => manifests(host, options))
  return documents.map((document) => `---\n${stringify(document)}`).join('')
}

function manifests(host: FleetHost, options: HostsOutOptions): object[] {
  const { name, account, selfSigned, bootMac, firmware } = host
  if (!isMachineId(name))
    throw new UserError('hosts-out', `${name} cannot name a BareMetalHost`, {
      kind: 'usage',
      remedy: 'write nodes to a .json file, or use small letters, digits, and - and . within the name',
    })
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}-bmc` },
      type: 'Opaque',
      stringData: { username: account.username, password: account.password },
    },
    {
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { name },
      spec: {
        online: true,
        bootMACAddress: bootMac,
        ...defined({ bootMode: firmware === 'bios' ? 'legacy' : undefined }),
        bmc: {
          address: bmcAddress(host, options),
          credentialsName: `${name}-bmc`,
          ...defined({ disableCertificateVerification: selfSigned && options.driver !== 'ipmi' ? true : undefined }),
        },
      },
    },
  ]
}

const HOSTS_COLUMNS: readonly (readonly [name: string, of: (host: FleetHost) => string | number])[] = [
  ['name', ({ name }) => name],
  ['bmc_address', ({ bmc }) => bmc],
  ['system', ({ system }) => system],
  ['username', ({ account }) => account.username],
  ['password', ({ account }) => account.password],
  ['boot_mac', ({ bootMac }) => bootMac],
  ['macs', ({ macs }) => macs.join(' ')],
  ['boot_mode', ({ firmware }) => firmware],
  ['architecture', ({ architecture }) => architecture],
  ['cpus', ({ cpus }) => cpus],
  ['memory_mib', ({ memoryMib }) => memoryMib],
  ['manufacturer', ({ manufacturer }) => manufacturer],
  ['product', ({ product }) => product],
  ['serial', ({ serial }) => serial],
  ['ipmi_address', ipmiText],
]

/** A value in RFC 4180's quotes. Names and hexadecimal numbers cannot be mistaken for a spreadsheet's formulas. */
function csvText(hosts: readonly FleetHost[]): string {
  const line = (values: readonly (string | number)[]): string => `${values.map(quoteCsvField).join(',')}\r\n`
  return (
    line(HOSTS_COLUMNS.map(([name]) => name)) +
    hosts.map((host) => line(HOSTS_COLUMNS.map(([, of]) => of(host)))).join('')
  )
}

const quoteCsvField = (value: string | number): string =>
  /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value)
