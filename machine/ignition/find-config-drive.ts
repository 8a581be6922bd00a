import { FormatError, readIso9660, sliceSource, type ByteSource } from '../../base/bytes/index.js'
import type { SimulatedDisk } from '../disk/block-device.js'
import { readLayoutOfBadDisk, type DiskPartition } from '../disk/disk-partitions.js'

/** A config drive of OpenStack that a system finds on its disks. */
export interface ConfigDrive {
  /** `/dev/disk/by-label/config-2` */
  path: string
  /** Null for a drive without user data. */
  userData: Uint8Array | null
  /** `meta_data.json`; null for a drive without it. */
  metaData: Uint8Array | null
}

const CONFIG_DRIVE_LABELS = ['config-2', 'CONFIG-2']
/** Plain names of an ISO are in capitals, and of old tools in eight characters. */
const USER_DATA = /^user_data?$/i
const META_DATA = /^meta_data?\.json?$/i

/** Searches the disks for a config drive, as Ironic writes it beside an image: an ISO 9660 filesystem of its label. */
export async function findConfigDrive(disks: Iterable<SimulatedDisk>): Promise<ConfigDrive | undefined> {
  for (const device of disks)
    for (const partition of (await readLayoutOfBadDisk(device)).partitions) {
      const drive = await driveIn(device, partition)
      if (drive) return drive
    }
  return undefined
}

async function driveIn(device: SimulatedDisk, { offset, length }: DiskPartition): Promise<ConfigDrive | undefined> {
  try {
    const whole: ByteSource = { size: device.size, read: (from, count) => device.read(from, count) }
    const filesystem = await readIso9660(sliceSource(whole, offset, length), { anyCase: true })
    if (!CONFIG_DRIVE_LABELS.includes(filesystem.volume)) return undefined
    const path = `/dev/disk/by-label/${filesystem.volume}`
    const folder = await filesystem.list('/openstack/latest').catch(() => [])
    const contentsOf = async (wanted: RegExp) => {
      const file = folder.find(({ name, folder: isFolder }) => !isFolder && wanted.test(name))
      return file ? filesystem.contents(file).read(0, file.size) : null
    }
    return { path, userData: await contentsOf(USER_DATA), metaData: await contentsOf(META_DATA) }
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}
