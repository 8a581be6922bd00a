import { dialectOfAddress } from '../../bmc/dialects/index.js'
import { defined } from '../../base/runtime/index.js'
import { HintError, parseRootDeviceHints, satisfiesHints, type HintedDevice } from '../../base/wire/index.js'
import {
  defaultMachineSpec,
  diskNames,
  withHardware,
  type DiskSpec,
  type MachineHardware,
  type MachineSpec,
} from '../../machine/index.js'
import { rootDeviceHintsOf } from '../controller/host-inputs.js'
import { ironicHints } from '../manifests/manifest-host.js'
import type { DeviceHints } from '../manifests/manifest-types.js'
import type { HostManifests } from '../manifests/wanted-hosts.js'
import { knownMachine } from './known-machine.js'

/** A machine that a host's manifests describe. */
export interface FittingMachine {
  hardware: MachineHardware
  /** Sentences on the disk of the system: which one it is, and why. */
  notes: string[]
}

/**
 * The machine that a host asks for: with the hardware of its HardwareData or annotation, or else the default one with disks
 * that its hints fit.
 *
 * @param named hardware that a user has named for it: its disks stay as they are
 */
export function fittingMachine({ host, others }: HostManifests, named?: MachineHardware): FittingMachine {
  const known = withAddressedBmc(named ?? knownMachine(host, others), host)
  const plain = withHardware(defaultMachineSpec(1), known ?? {})
  const root = rootDeviceHintsOf(host.spec)
  const arrays = (host.spec.raid?.softwareRAIDVolumes ?? []).flatMap(({ physicalDisks = [] }) => physicalDisks)
  const made = known?.disks ? [] : [...(hasHints(root) ? [root] : []), ...arrays]
  const spec = made.reduce(withDiskFor, plain)
  const isOther = spec !== plain
  const hardware = { ...known, ...defined({ disks: isOther ? spec.disks.map(describedDisk) : undefined }) }
  return { hardware, notes: hasHints(root) && isInstalled(host.spec) ? rootNotes(spec, root, plain) : [] }
}

/** Hardware with the BMC that the scheme of a host's address names, unless the hardware names one. */
export function withAddressedBmc(
  known: MachineHardware | undefined,
  { spec }: HostManifests['host'],
): MachineHardware | undefined {
  const bmc = dialectOfAddress(spec.bmc?.address ?? '')
  return bmc === undefined ? known : { bmc, ...known }
}

const hasHints = (hints: DeviceHints): boolean => Object.keys(hints).length > 0

const isInstalled = ({ image, customDeploy }: HostManifests['host']['spec']): boolean =>
  (Boolean(image?.url) && image?.format !== 'live-iso') || customDeploy !== undefined

/** A disk without what the machine that gets it decides: where its bytes are. */
function describedDisk({ backing: _backing, ...disk }: DiskSpec): Omit<DiskSpec, 'backing'> {
  return disk
}

/** The machine with a disk that the hints fit: one that it has, or one more in the place of those that it contradicts. */
function withDiskFor(spec: MachineSpec, hints: DeviceHints): MachineSpec {
  if (diskFor(spec, hints)) return spec
  const wanted = diskOf(hints)
  const clashes = (disk: DiskSpec): boolean =>
    disk.name === wanted.name || (wanted.hctl !== undefined && diskNames(spec, disk).hctl === wanted.hctl)
  const index = spec.disks.findIndex(clashes)
  const place = index < 0 ? spec.disks.length : index
  // Serial number and WWN are those of the place, where the hints say none.
  const filled = withHardware(spec, { disks: [...spec.disks, wanted] }).disks.at(-1)!
  const disks = [...spec.disks.slice(0, place), filled, ...spec.disks.slice(place).filter((disk) => !clashes(disk))]
  return { ...spec, disks }
}

/** The first disk that hints fit, as the agent chooses it. */
function diskFor(spec: MachineSpec, hints: DeviceHints): DiskSpec | undefined {
  try {
    const parsed = parseRootDeviceHints(ironicHints(hints), 'agent')
    return spec.disks.find((disk) => satisfiesHints(hintedDevice(spec, disk), parsed))
  } catch (error) {
    if (error instanceof HintError) return undefined
    throw error
  }
}

function hintedDevice(spec: MachineSpec, disk: DiskSpec): HintedDevice {
  const { hctl, byPath } = diskNames(spec, disk)
  const { name, model, vendor, serial, wwn, wwnExtension = null, size, rotational } = disk
  return {
    name: `/dev/${name}`,
    model,
    vendor,
    serial,
    wwn,
    wwn_vendor_extension: wwnExtension,
    wwn_with_extension: wwn + (wwnExtension ?? '').replace(/^0x/, ''),
    size,
    rotational,
    hctl,
    by_path: `/dev/disk/by-path/${byPath}`,
  }
}

const GIB = 1024 ** 3
const BY_PATH = '/dev/disk/by-path/'

/** A disk that hints fit. */
function diskOf(hints: DeviceHints): Partial<DiskSpec> {
  const { deviceName = '', hctl, minSizeGigabytes = 0, rotational, model, vendor, serialNumber, wwn } = hints
  const isByPath = deviceName.startsWith(BY_PATH)
  const { wwnWithExtension, wwnVendorExtension } = hints
  const extension = wwnVendorExtension || wwnWithExtension?.slice(wwn?.length ?? SHORT_WWN)
  return defined({
    transport: transportFor(hints),
    name: deviceName !== '' && !isByPath ? deviceName.replace(/^\/dev\//, '') : undefined,
    byPath: isByPath ? deviceName.slice(BY_PATH.length) : undefined,
    hctl: hctl || undefined,
    size: minSizeGigabytes > DEFAULT_GIB ? minSizeGigabytes * GIB : undefined,
    rotational,
    model: model || undefined,
    vendor: vendor || undefined,
    serial: serialNumber || undefined,
    wwn: wwn || wwnWithExtension?.slice(0, SHORT_WWN) || undefined,
    wwnExtension: extension ? `0x${extension.replace(/^0x/, '')}` : undefined,
  })
}

/** Characters of a WWN of eight bytes, with its 0x. */
const SHORT_WWN = 18
/** Size of the disk that a place further down has by default. */
const DEFAULT_GIB = 256

function transportFor({ deviceName = '', hctl, vendor }: DeviceHints): DiskSpec['transport'] {
  if (/nvme/.test(deviceName)) return 'nvme'
  if (/-ata-|-sata-/.test(deviceName) || vendor === 'ATA') return 'sata'
  return hctl || deviceName.startsWith(BY_PATH) || vendor ? 'sas' : 'sata'
}

/** Says which disk the system comes on, and why. */
function rootNotes(spec: MachineSpec, hints: DeviceHints, plain: MachineSpec): string[] {
  const shown = Object.entries(hints)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
  const chosen = diskFor(spec, hints)
  const all = spec.disks.map(({ name }) => name).join(', ')
  if (!chosen) return [`no disk of the machine fits ${shown}: it has ${all === '' ? 'none' : all}`]
  const what = `/dev/${chosen.name} (${chosen.vendor} ${chosen.model}, ${Math.round(chosen.size / GIB)} GiB)`.replace(
    '( ',
    '(',
  )
  const isMade = !plain.disks.includes(chosen)
  const why = isMade ? 'the simulated machine has it because of them' : `it is the first of ${all} that they fit`
  return [`the system comes on ${what}, which fits ${shown}; ${why}`]
}
