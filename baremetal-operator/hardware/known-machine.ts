import { isIPv4 } from 'node:net'
import { defined } from '../../base/runtime/index.js'
import type { DiskSpec, LldpNeighbour, MachineHardware, NicSpec } from '../../machine/index.js'
import { HARDWARE_DETAILS } from '../controller/annotations.js'
import type { BareMetalHostManifest, OtherManifest } from '../manifests/manifest-types.js'

/** HardwareDetails of a HardwareData or an annotation: the members that make a machine. */
export interface KnownDetails {
  systemVendor?: { manufacturer?: string; productName?: string; serialNumber?: string }
  ramMebibytes?: number
  hostname?: string
  nics?: KnownNic[]
  storage?: KnownDisk[]
  cpu?: { arch?: string; count?: number }
}

interface KnownNic {
  name?: string
  mac?: string
  ip?: string
  pxe?: boolean
  lldp?: { switchID?: string; portID?: string; switchSystemName?: string }
}

interface KnownDisk {
  name?: string
  alternateNames?: string[]
  type?: 'HDD' | 'SSD' | 'NVME'
  rotational?: boolean
  sizeBytes?: number
  vendor?: string
  model?: string
  serialNumber?: string
  wwn?: string
  wwnVendorExtension?: string
  hctl?: string
}

/** The hardware that a host's manifests say; undefined where they say none. */
export function knownMachine(
  { metadata, spec }: BareMetalHostManifest,
  others: readonly OtherManifest[],
): MachineHardware | undefined {
  const data = others.find(({ kind }) => kind === 'HardwareData')?.spec?.['hardware']
  const text = metadata.annotations?.[HARDWARE_DETAILS]
  const details = (data ?? (text ? JSON.parse(text) : undefined)) as KnownDetails | undefined
  const architecture = spec.architecture ?? details?.cpu?.arch
  const isSimulated = architecture === 'x86_64' || architecture === 'aarch64'
  const known: MachineHardware = {
    ...(details ? hardwareOfDetails(details) : {}),
    ...(isSimulated ? { architecture } : {}),
    ...(spec.bootMode === 'legacy' ? { firmware: 'bios' } : {}),
  }
  return Object.keys(known).length === 0 ? undefined : known
}

/** The machine that HardwareDetails describe; what they leave out is left out. */
export function hardwareOfDetails({
  systemVendor = {},
  ramMebibytes,
  hostname,
  nics,
  storage,
  cpu = {},
}: KnownDetails): MachineHardware {
  const { manufacturer, productName, serialNumber } = systemVendor
  return defined({
    manufacturer: manufacturer || undefined,
    product: productName || undefined,
    serial: serialNumber || undefined,
    memoryMib: ramMebibytes || undefined,
    cpus: cpu.count || undefined,
    hostname: hostname || undefined,
    nics: nics && nics.length > 0 ? nicsOf(nics) : undefined,
    disks: storage && storage.length > 0 ? storage.map(diskOf) : undefined,
  })
}

/** A NIC is there once for each of its addresses. */
function nicsOf(nics: readonly KnownNic[]): Partial<NicSpec>[] {
  const byMac = new Map<string | undefined, Partial<NicSpec>>()
  for (const nic of nics) {
    const { ip = '', lldp } = nic
    const key = nic.mac ?? nic.name
    const ipv4 = isIPv4(ip) ? ip : byMac.get(key)?.ipv4
    byMac.set(
      key,
      defined({
        name: nic.name || undefined,
        mac: nic.mac?.toLowerCase() || undefined,
        ipv4,
        pxe: nic.pxe,
        lldp: lldp ? neighbourOf(lldp) : undefined,
      }),
    )
  }
  return [...byMac.values()]
}

/** The switch is known by its MAC address, or else by its name alone. */
const neighbourOf = ({ switchID = '', portID, switchSystemName }: NonNullable<KnownNic['lldp']>): LldpNeighbour =>
  defined({
    chassis: MAC_PATTERN.test(switchID) ? switchID.toLowerCase() : undefined,
    port: portID || undefined,
    name: switchSystemName || undefined,
  })

const MAC_PATTERN = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i

function diskOf(disk: KnownDisk): Partial<DiskSpec> {
  const names = [disk.name ?? '', ...(disk.alternateNames ?? [])]
  const kernelName = names.find((name) => /^\/dev\/[a-z][a-z0-9]*$/.test(name))?.slice('/dev/'.length)
  const byPath = names.find((name) => name.startsWith('/dev/disk/by-path/'))?.slice('/dev/disk/by-path/'.length)
  const isNvme = disk.type === 'NVME' || kernelName?.startsWith('nvme') === true
  return defined({
    transport: isNvme ? ('nvme' as const) : disk.hctl ? ('sas' as const) : undefined,
    name: kernelName,
    byPath,
    size: disk.sizeBytes || undefined,
    rotational: disk.rotational ?? (disk.type === 'HDD' ? true : undefined),
    vendor: disk.vendor || undefined,
    model: disk.model || undefined,
    serial: disk.serialNumber || undefined,
    wwn: disk.wwn || undefined,
    wwnExtension: disk.wwnVendorExtension || undefined,
    hctl: disk.hctl || undefined,
  })
}
