import type { SimulatedDisk } from './block-device.js'

/** A file of a new FAT filesystem: folders and name in capitals, in the form 8.3. */
interface NewFatFile {
  path: readonly string[]
  bytes: Uint8Array
}

export interface NewFat32 {
  /** At most eleven capitals. */
  label: string
  serial: number
  files: readonly NewFatFile[]
}

const RESERVED_SECTORS = 32
const FAT_CLUSTER = 4096
const FAT_ENTRY = 32
const END_OF_CHAIN = 0x0fffffff
const ATTRIBUTES = { file: 0x20, directory: 0x10, label: 0x08 } as const

/**
 * Writes a FAT32 filesystem with a few files into a range of a disk, as `mkfs.fat -n LABEL` and a boot loader's installer
 * would (Microsoft's FAT specification 1.03). Each file and folder has one cluster of 4 KiB.
 */
export async function writeFat32(
  device: Pick<SimulatedDisk, 'sectorSize' | 'write'>,
  { offset, length }: { offset: number; length: number },
  filesystem: NewFat32,
): Promise<void> {
  const { sectorSize } = device
  const sectors = Math.floor(length / sectorSize)
  const perCluster = FAT_CLUSTER / sectorSize
  const tableSectors = Math.ceil(((sectors / perCluster + 2) * 4) / sectorSize)
  const clusters = clustersOf(filesystem)
  const table = Buffer.alloc(4 * (clusters.length + 2))
  for (let cluster = 0; cluster < clusters.length + 2; cluster++) table.writeUInt32LE(END_OF_CHAIN, 4 * cluster)
  table.writeUInt32LE(0x0ffffff8, 0)
  const boot = bootSector(filesystem, { sectorSize, sectors, perCluster, tableSectors })
  const at = (sector: number) => offset + sector * sectorSize
  const information = informationSector(sectorSize, Math.floor(sectors / perCluster))
  // The second one is the copy.
  for (const sector of [0, 6]) await device.write(at(sector), Buffer.concat([boot, information]))
  for (const copy of [0, 1]) await device.write(at(RESERVED_SECTORS + copy * tableSectors), table)
  const first = at(RESERVED_SECTORS + 2 * tableSectors)
  for (const [index, bytes] of clusters.entries()) await device.write(first + index * FAT_CLUSTER, bytes)
}

interface FatGeometry {
  sectorSize: number
  sectors: number
  perCluster: number
  tableSectors: number
}

function bootSector({ label, serial }: NewFat32, geometry: FatGeometry): Buffer {
  const { sectorSize, sectors, perCluster, tableSectors } = geometry
  const sector = Buffer.alloc(sectorSize)
  sector.set([0xeb, 0x58, 0x90])
  sector.write('mkfs.fat', 3)
  sector.writeUInt16LE(sectorSize, 11)
  sector.writeUInt8(perCluster, 13)
  sector.writeUInt16LE(RESERVED_SECTORS, 14)
  sector.writeUInt8(2, 16)
  sector.writeUInt8(0xf8, 21)
  sector.writeUInt32LE(sectors, 32)
  sector.writeUInt32LE(tableSectors, 36)
  sector.writeUInt32LE(2, 44)
  sector.writeUInt16LE(1, 48)
  sector.writeUInt16LE(6, 50)
  sector.writeUInt8(0x29, 66)
  sector.writeUInt32LE(serial >>> 0, 67)
  sector.write(label.padEnd(11), 71, 'latin1')
  sector.write('FAT32   ', 82, 'latin1')
  sector.writeUInt16LE(0xaa55, 510)
  return sector
}

/** The sector FSInfo, which says that the number of free clusters is not known. */
function informationSector(sectorSize: number, clusters: number): Buffer {
  const sector = Buffer.alloc(sectorSize)
  sector.writeUInt32LE(0x41615252, 0)
  sector.writeUInt32LE(0x61417272, 484)
  sector.writeUInt32LE(0xffffffff, 488)
  sector.writeUInt32LE(Math.min(3, clusters), 492)
  sector.writeUInt32LE(0xaa550000, 508)
  return sector
}

/** Contents of the clusters from 2 on: the root folder is the first. */
function clustersOf({ label, files }: NewFat32): Buffer[] {
  const clusters: Buffer[] = [Buffer.alloc(FAT_CLUSTER)]
  const folders = new Map<string, { cluster: number; used: number }>([['', { cluster: 2, used: 0 }]])
  const newCluster = (bytes: Uint8Array) => {
    const cluster = Buffer.alloc(FAT_CLUSTER)
    cluster.set(bytes.subarray(0, FAT_CLUSTER))
    clusters.push(cluster)
    return clusters.length + 1
  }
  const add = (folder: string, entry: Buffer) => {
    const known = folders.get(folder)!
    entry.copy(clusters[known.cluster - 2]!, known.used)
    known.used += FAT_ENTRY
  }
  add('', shortEntry(label, ATTRIBUTES.label, 0, 0))
  for (const { path, bytes } of files) {
    for (const [index, name] of path.slice(0, -1).entries()) {
      const parent = path.slice(0, index).join('/')
      const own = path.slice(0, index + 1).join('/')
      if (folders.has(own)) continue
      const cluster = newCluster(new Uint8Array())
      add(parent, shortEntry(name, ATTRIBUTES.directory, cluster, 0))
      folders.set(own, { cluster, used: 0 })
      // The root folder is cluster 0 to those in it.
      const above = parent === '' ? 0 : folders.get(parent)!.cluster
      add(own, shortEntry('.', ATTRIBUTES.directory, cluster, 0))
      add(own, shortEntry('..', ATTRIBUTES.directory, above, 0))
    }
    const cluster = newCluster(bytes)
    add(path.slice(0, -1).join('/'), shortEntry(path.at(-1)!, ATTRIBUTES.file, cluster, bytes.length))
  }
  return clusters
}

function shortEntry(name: string, attributes: number, cluster: number, size: number): Buffer {
  const entry = Buffer.alloc(FAT_ENTRY)
  const [stem = '', extension = ''] = /^\.+$/.test(name) || attributes === ATTRIBUTES.label ? [name] : name.split('.')
  const text = attributes === ATTRIBUTES.label ? name.padEnd(11) : stem.padEnd(8) + extension.padEnd(3)
  entry.write(text.slice(0, 11), 0, 'latin1')
  entry.writeUInt8(attributes, 11)
  entry.writeUInt16LE(cluster >>> 16, 20)
  entry.writeUInt16LE(cluster & 0xffff, 26)
  entry.writeUInt32LE(size, 28)
  return entry
}
