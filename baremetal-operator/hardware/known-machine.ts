import { defined } from '../../base/runtime/index.js'
import type { DiskSpec, MachineHardware, NicSpec } from '../../machine/index.js'
import { HARDWARE_DETAILS } from '../controller/annotations.js'
import type { BareMetalHostManifest, OtherManifest } from '../manifests/manifest-types.js'

/** HardwareDetails of a HardwareData or an annotation: the members that make a machine. */
interface KnownDetails {
  systemVendor?: { manufacturer?: string; productName?: string; serialNumber?: string }
  ramMebibytes?: number
  hostname?: string
  nics?: { name?: string; mac?: string; ip?: string; pxe?: boolean }[]
  storage?: KnownDisk[]
  cpu?: { arch?: string; count?: number }
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
    ...(details ? machineOf(details) : {}),
    ...(isSimulated ? { architecture } : {}),
    ...(spec.bootMode === 'legacy' ? { firmware: 'bios' } : {}),
  }
  return Object.keys(known).length === 0 ? undefined : known
}

function machineOf({
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
function nicsOf(nics: NonNullable<KnownDetails['nics']>): Partial<NicSpec>[] {
  const byMac = new Map(nics.toReversed().map((nic) => [nic.mac ?? nic.name, nic]))
  return [...byMac.values()].toReversed().map(({ name, mac, ip = '', pxe }) =>
    defined({
      name: name || undefined,
      mac: mac?.toLowerCase() || undefined,
      ipv4: /^\d+(\.\d+){3}$/.test(ip) ? ip : undefined,
      pxe,
    }),
  )
}

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
