import { getPartitions } from 'partitioninfo'
import type { SimulatedDisk, ReadableDisk } from './block-device.js'
import { probeFilesystem, type Filesystem } from './filesystem-probe.js'
import { readGpt, type Gpt } from './gpt.js'

/** A partition with the facts that lsblk, blkid and sgdisk show. */
export interface DiskPartition {
  /** Kernel name: `sda3`, `nvme0n1p3`. */
  name: string
  number: number
  /** Bytes. */
  offset: number
  length: number
  /** GUIDs and name of the GPT entry; null on an MBR disk. */
  gpt: { type: string; guid: string; name: string } | null
  filesystem: Filesystem | undefined
}

/** Structures of a disk: the table that the kernel uses, and the filesystems in it (or on the bare disk). */
export interface DiskLayout {
  table: 'gpt' | 'dos' | null
  gpt: Gpt | undefined
  partitions: DiskPartition[]
  /** Filesystem of a disk without a table. */
  filesystem: Filesystem | undefined
}

/** The kernel's name of a partition: `sda` + 3 -> `sda3`; a disk's name that ends with a digit gets a `p`: `nvme0n1p3`. */
export const partitionName = (disk: string, number: number): string =>
  /\d$/.test(disk) ? `${disk}p${number}` : `${disk}${number}`

/** Layouts by disk, since they are read often and change rarely. */
const layouts = new WeakMap<SimulatedDisk, { revision: number; layout: DiskLayout }>()

/** The layout of a disk that was read and has not changed since. */
export function knownLayout(device: SimulatedDisk): DiskLayout | undefined {
  const known = layouts.get(device)
  return known && known.revision === device.revision?.() ? known.layout : undefined
}

/** Reads the layout from the disk's bytes. Callers must not change it, since it is kept until the disk changes. */
export async function readLayout(device: SimulatedDisk): Promise<DiskLayout> {
  const revision = device.revision?.()
  if (revision === undefined) return readLayoutNow(device)
  const known = layouts.get(device)
  if (known?.revision === revision) return known.layout
  const layout = await readLayoutNow(device)
  // A layout that was read during a change is not kept.
  if (device.revision?.() === revision) layouts.set(device, { revision, layout })
  return layout
}

/**
 * The same for a disk that may have bad sectors, which are read as zeros: the kernel and udev list a disk that they
 * cannot read.
 */
export async function readLayoutOfBadDisk(device: SimulatedDisk): Promise<DiskLayout> {
  const unlessBad = (error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EIO') return undefined
    throw error
  }
  const layout = await readLayout(device).catch(unlessBad)
  if (layout) return layout
  const read: SimulatedDisk['read'] = async (offset, length) =>
    (await device.read(offset, length).catch(unlessBad)) ?? new Uint8Array(length)
  const { name, size, sectorSize } = device
  return readLayoutNow({ name, size, sectorSize, read })
}

/** A layout as the kernel shows it: it may know the partitions of a new table later than they are written. */
export function asShown(device: SimulatedDisk, layout: DiskLayout): DiskLayout | Promise<DiskLayout> {
  const shown = device.showsPartitions?.() ?? true
  if (shown === true) return layout
  return shown.then((isShown) => (isShown ? layout : { ...layout, partitions: [] }))
}

async function readLayoutNow(device: ReadableDisk): Promise<DiskLayout> {
  const gpt = await readGpt(device)
  if (gpt) {
    const partitions = await Promise.all(
      gpt.partitions.map(async ({ number, offset, length, type, guid, name }) => ({
        name: partitionName(device.name, number),
        number,
        offset,
        length,
        gpt: { type, guid, name },
        filesystem: await probeFilesystem(device, offset, length),
      })),
    )
    return { table: 'gpt', gpt, partitions, filesystem: undefined }
  }
  const mbr = await readMbr(device)
  if (mbr) return { table: 'dos', gpt, partitions: mbr, filesystem: undefined }
  return { table: null, gpt, partitions: [], filesystem: await probeFilesystem(device, 0, device.size) }
}

/** The filesystems of a disk with this label, as `blkid` would find them. */
export async function partitionsLabelled(device: SimulatedDisk, label: string): Promise<DiskPartition[]> {
  const { partitions } = await readLayout(device)
  return partitions.filter(({ filesystem }) => filesystem?.label === label)
}

async function readMbr(device: ReadableDisk): Promise<DiskPartition[] | undefined> {
  const sector = Buffer.from(await device.read(0, 512))
  if (sector.length < 512 || sector.readUInt16LE(510) !== 0xaa55) return undefined
  // A filesystem's boot sector has the same signature; a table has valid boot flags and at least one type.
  const entries = [0, 1, 2, 3].map((index) => sector.subarray(446 + 16 * index, 462 + 16 * index))
  const plausible = entries.every((entry) => entry[0] === 0 || entry[0] === 0x80) && entries.some((entry) => entry[4])
  if (!plausible || entries.some((entry) => entry[4] === 0xee)) return undefined
  const disk = {
    read: async (buffer: Buffer, at: number, length: number, offset: number) => {
      const bytes = await device.read(offset, length)
      buffer.set(bytes, at)
      return { bytesRead: bytes.length, buffer }
    },
  } as unknown as Parameters<typeof getPartitions>[0]
  const found = await getPartitions(disk, { includeExtended: false }).catch(() => undefined)
  if (!found) return undefined
  return Promise.all(
    found.partitions.map(async ({ index, offset, size }) => ({
      name: partitionName(device.name, index),
      number: index,
      offset,
      length: size,
      gpt: null,
      filesystem: await probeFilesystem(device, offset, size),
    })),
  )
}
