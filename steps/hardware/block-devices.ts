import { defined, during } from '../../base/runtime/index.js'
import type { Executor, Target } from '../../targets/index.js'
import { runToEnd, runCommand } from '../sdk/run-command.js'
import { lsblkListing } from './lsblk-listing.js'

/** A disk, a RAID array or a multipath device. */
export interface BlockDevice {
  /** `/dev/sda` */
  name: string
  /** lsblk's type: `disk`, `raid1`, `mpath` ... */
  type: string
  model: string | null
  /** Bytes. */
  size: number
  rotational: boolean
  wwn: string | null
  serial: string | null
  vendor: string | null
  wwnWithExtension: string | null
  wwnVendorExtension: string | null
  /** SCSI address: `0:0:0:0`. */
  hctl: string | null
  /** `/dev/disk/by-path/...` */
  byPath: string | null
  /** Bytes. */
  logicalSectors: number | null
  physicalSectors: number | null
  /** `sata`, `nvme`, `usb` ... */
  transport: string | null
  /** Every serial number and WWN by which lsblk or udev know it; hints may name any of them. */
  serials: string[]
  wwns: string[]
  /** Name that a software RAID array got when it was created. */
  volumeName?: string
}

/** Command line of ironic-python-agent, word for word. */
export const LSBLK = [
  'lsblk',
  '-bia',
  '--json',
  '-oKNAME,MODEL,SIZE,ROTA,TYPE,UUID,PARTUUID,SERIAL,WWN,LOG-SEC,PHY-SEC,TRAN',
] as const

/**
 * The disks of a target as ironic-python-agent lists them: without floppies, RAM disks, empty drives, loop devices,
 * partitions and the members of multipath devices, each once, in lsblk's order.
 */
export async function listBlockDevices(target: Target): Promise<BlockDevice[]> {
  const { executor } = target
  await runToEnd(executor, ['udevadm', 'settle'], { effect: 'reads' })
  const { stdout } = await during('listing the block devices', () => runCommand(executor, LSBLK, { effect: 'reads' }))
  const rows = selectDisks(parseLsblk(stdout))
  const devices: BlockDevice[] = []
  for (const row of rows) devices.push(await readBlockDevice(executor, row))
  return devices
}

/** A row of lsblk with numbers and flags in their own types. */
export interface LsblkRow {
  kname: string
  type: string
  model: string | null
  size: number
  rota: boolean
  uuid: string | null
  partuuid: string | null
  serial: string | null
  wwn: string | null
  logicalSectors: number | null
  physicalSectors: number | null
  transport: string | null
}

type ListingCell = string | number | boolean | null
type RawRow = Record<string, ListingCell> & { kname: string; children?: RawRow[] }

const listing = lsblkListing<RawRow>({ additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } })

/** Parses lsblk's JSON. Old versions write numbers and flags as text, and nest rows without --tree. */
export function parseLsblk(json: string): LsblkRow[] {
  return flat(listing(json)).map((raw) => ({
    kname: raw.kname,
    type: trimCell(raw['type']) ?? '',
    model: trimCell(raw['model']),
    size: readNumberCell(raw['size']) ?? 0,
    rota: raw['rota'] === true || raw['rota'] === '1' || raw['rota'] === 1,
    uuid: trimCell(raw['uuid']),
    partuuid: trimCell(raw['partuuid']),
    serial: trimCell(raw['serial']),
    wwn: trimCell(raw['wwn']),
    logicalSectors: readNumberCell(raw['log-sec']),
    physicalSectors: readNumberCell(raw['phy-sec']),
    transport: trimCell(raw['tran']),
  }))
}

const flat = (rows: RawRow[]): RawRow[] => rows.flatMap((row) => [row, ...flat(row.children ?? [])])
const trimCell = (value: ListingCell | undefined) =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null
const readNumberCell = (value: ListingCell | undefined) =>
  value === null || value === undefined || value === '' || Number.isNaN(Number(value)) ? null : Number(value)

/** Rows of a listing that count as disks. */
export function selectDisks(rows: readonly LsblkRow[]): LsblkRow[] {
  // A disk behind a multipath device carries the same identity; writing to one path only would be a mistake.
  const multipathed = new Set(rows.filter((row) => row.type === 'mpath').flatMap((row) => row.wwn ?? row.serial ?? []))
  const seen = new Set<string>()
  return rows.filter((row) => {
    if (!(row.type === 'disk' || row.type === 'mpath' || row.type.startsWith('raid'))) return false
    if (row.type === 'disk' && multipathed.has(row.wwn ?? row.serial ?? '')) return false
    if (/^(fd|ram|zram)\d/.test(row.kname) || row.size === 0 || seen.has(row.kname)) return false
    seen.add(row.kname)
    return true
  })
}

async function readBlockDevice(executor: Executor, row: LsblkRow): Promise<BlockDevice> {
  const name = `/dev/${row.kname}`
  const sys = `/sys/class/block/${row.kname}/device`
  const [udev, vendor, addresses] = await Promise.all([
    udevProperties(executor, name),
    sysText(executor, `${sys}/vendor`),
    sysNames(executor, `${sys}/scsi_device`),
  ])
  const all = (...values: (string | null | undefined)[]) => [...new Set(values.filter((value) => !!value))] as string[]
  const serials = all(row.serial, udev['ID_SERIAL_SHORT'], udev['ID_SERIAL'], udev['DM_SERIAL'])
  const wwns = all(row.wwn, udev['ID_WWN'], udev['DM_WWN'])
  return {
    name,
    type: row.type,
    model: row.model,
    size: row.size,
    rotational: row.rota,
    wwn: wwns[0] ?? null,
    serial: serials[0] ?? null,
    vendor,
    wwnWithExtension: udev['ID_WWN_WITH_EXTENSION'] ?? null,
    wwnVendorExtension: udev['ID_WWN_VENDOR_EXTENSION'] ?? null,
    hctl: addresses[0] ?? null,
    byPath: (udev['DEVLINKS'] ?? '').split(/\s+/).find((link) => link.startsWith('/dev/disk/by-path/')) ?? null,
    logicalSectors: row.logicalSectors,
    physicalSectors: row.physicalSectors,
    transport: row.transport,
    serials,
    wwns,
    // The superblock has `HOST:NAME`.
    ...defined({
      volumeName: row.type.startsWith('raid') && udev['MD_NAME'] ? udev['MD_NAME'].replace(/^[^:]*:/, '') : undefined,
    }),
  }
}

/** Properties of a device in udev's database; empty without a database, as in a container. */
async function udevProperties(executor: Executor, device: string): Promise<Record<string, string>> {
  const { stdout, exit } = await runToEnd(executor, ['udevadm', 'info', '--query=property', `--name=${device}`], {
    effect: 'reads',
  })
  if (exit.kind !== 'exited' || exit.code !== 0) return {}
  const properties: Record<string, string> = {}
  for (const line of stdout.split('\n')) {
    const [, name, value] = /^([^=]+)=(.*)$/.exec(line) ?? []
    if (name !== undefined && value) properties[name] = value.trim()
  }
  return properties
}

/** Content of a sysfs file without its line end; null when it is missing or empty. */
export async function sysText(executor: Executor, path: string): Promise<string | null> {
  try {
    return (
      Buffer.from(await executor.files.read(path))
        .toString('utf8')
        .trim() || null
    )
  } catch {
    return null
  }
}

/** Names in a folder of sysfs; empty when it is missing. */
export async function sysNames(executor: Executor, path: string): Promise<string[]> {
  try {
    return await executor.files.list(path)
  } catch {
    return []
  }
}
