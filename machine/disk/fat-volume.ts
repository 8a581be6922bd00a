import { fileError } from '../file-tree.js'
import type { SimulatedDisk } from './block-device.js'

export interface FatEntry {
  name: string
  kind: 'file' | 'directory'
  size: number
  /** First cluster; 0 for an empty file. */
  cluster: number
}

/** Values of the BIOS parameter block (Microsoft's FAT specification 1.03, section 3). Offsets and lengths in bytes. */
interface Layout {
  bits: 12 | 16 | 32
  table: Buffer
  clusterSize: number
  /** Offset of cluster 2, the first one. */
  dataOffset: number
  /** Root folder of FAT12 and FAT16, before the clusters. */
  rootOffset: number
  rootLength: number
  /** Root folder of FAT32, in clusters. */
  rootCluster: number
  /** Label in the parameter block; a folder entry of the root counts more. */
  label: string
}

type ReadBytes = (offset: number, length: number) => Promise<Buffer>

const DIRECTORY = 0x10
const VOLUME_LABEL = 0x08
const LONG_NAME_ATTRIBUTE = 0x0f
const FAT_ENTRY_BYTES = 32

/**
 * Reads a FAT filesystem, such as an EFI system partition. Paths are not case-sensitive.
 *
 * @throws an error with code EINVAL without such a filesystem, ENOENT, ENOTDIR, EISDIR as node:fs
 */
export class FatVolume {
  readonly #read: ReadBytes
  readonly #layout: Layout

  private constructor(read: ReadBytes, layout: Layout) {
    this.#read = read
    this.#layout = layout
  }

  /** @param offset offset of the filesystem on the disk */
  static async open(device: Pick<SimulatedDisk, 'read'>, offset: number): Promise<FatVolume> {
    const read: ReadBytes = async (at, length) => Buffer.from(await device.read(offset + at, length))
    return new FatVolume(read, await readLayout(read))
  }

  /** The label as blkid reads it: from the root folder, or the parameter block. Undefined without one. */
  async label(): Promise<string | undefined> {
    const entry = labelIn(await this.#folder(this.#layout.rootCluster)) ?? this.#layout.label
    return entry === '' || entry === 'NO NAME' ? undefined : entry
  }

  /** @returns undefined when the path does not exist */
  async find(path: string): Promise<FatEntry | undefined> {
    let found: FatEntry = { name: '', kind: 'directory', size: 0, cluster: this.#layout.rootCluster }
    for (const part of path.split('/').filter((step) => step !== '')) {
      if (found.kind !== 'directory') return undefined
      const next = (await this.#entries(found)).find(({ name }) => name.toLowerCase() === part.toLowerCase())
      if (!next) return undefined
      found = next
    }
    return found
  }

  async list(path: string): Promise<string[]> {
    const entry = await this.#get(path)
    if (entry.kind !== 'directory') throw fileError('ENOTDIR', path)
    return (await this.#entries(entry)).map(({ name }) => name).sort()
  }

  async read(path: string): Promise<Buffer> {
    const entry = await this.#get(path)
    if (entry.kind === 'directory') throw fileError('EISDIR', path)
    return (await this.#chain(entry.cluster)).subarray(0, entry.size)
  }

  async #get(path: string): Promise<FatEntry> {
    const entry = await this.find(path)
    if (!entry) throw fileError('ENOENT', path)
    return entry
  }

  async #entries({ cluster }: FatEntry): Promise<FatEntry[]> {
    return parseFolder(await this.#folder(cluster))
  }

  #folder(cluster: number): Promise<Buffer> {
    const { rootOffset, rootLength } = this.#layout
    return cluster === 0 ? this.#read(rootOffset, rootLength) : this.#chain(cluster)
  }

  async #chain(first: number): Promise<Buffer> {
    const { clusterSize, dataOffset, table, bits } = this.#layout
    const parts: Buffer[] = []
    const most = (table.length * 8) / bits
    // A damaged table may have a circle, which must not be followed forever.
    for (let cluster = first; cluster >= 2 && cluster < most && parts.length <= most; cluster = this.#next(cluster))
      parts.push(await this.#read(dataOffset + (cluster - 2) * clusterSize, clusterSize))
    return Buffer.concat(parts)
  }

  #next(cluster: number): number {
    const { table, bits } = this.#layout
    switch (bits) {
      case 12: {
        const pair = table.readUInt16LE(Math.floor(cluster * 1.5))
        return cluster % 2 === 0 ? pair & 0xfff : pair >> 4
      }
      case 16:
        return table.readUInt16LE(cluster * 2)
      case 32:
        return table.readUInt32LE(cluster * 4) & 0x0fffffff
    }
  }
}

async function readLayout(read: ReadBytes): Promise<Layout> {
  const sector = await read(0, 512)
  const bytesPerSector = sector.length === 512 ? sector.readUInt16LE(11) : 0
  const clusterSize = bytesPerSector * (sector[13] ?? 0)
  if (clusterSize === 0 || sector.readUInt16LE(510) !== 0xaa55)
    throw Object.assign(new Error('this is not a FAT filesystem'), { code: 'EINVAL' })
  const reserved = sector.readUInt16LE(14)
  const tables = sector[16]!
  const rootLength = Math.ceil((sector.readUInt16LE(17) * FAT_ENTRY_BYTES) / bytesPerSector) * bytesPerSector
  const sectors = sector.readUInt16LE(19) || sector.readUInt32LE(32)
  const tableSectors = sector.readUInt16LE(22) || sector.readUInt32LE(36)
  const rootOffset = (reserved + tables * tableSectors) * bytesPerSector
  const dataOffset = rootOffset + rootLength
  const clusters = Math.floor((sectors * bytesPerSector - dataOffset) / clusterSize)
  // By the specification the number of clusters alone decides the type.
  const bits = clusters < 4085 ? 12 : clusters < 65525 ? 16 : 32
  return {
    bits,
    table: await read(reserved * bytesPerSector, tableSectors * bytesPerSector),
    clusterSize,
    dataOffset,
    rootOffset,
    rootLength,
    rootCluster: bits === 32 ? sector.readUInt32LE(44) : 0,
    label: labelText(sector, bits === 32 ? 71 : 43),
  }
}

const labelText = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + 11).trimEnd()

function labelIn(folder: Buffer): string | undefined {
  for (let at = 0; at + FAT_ENTRY_BYTES <= folder.length && folder[at] !== 0; at += FAT_ENTRY_BYTES) {
    const attributes = folder[at + 11]!
    const isLabel = (attributes & VOLUME_LABEL) !== 0 && (attributes & LONG_NAME_ATTRIBUTE) !== LONG_NAME_ATTRIBUTE
    if (isLabel && folder[at] !== 0xe5) return labelText(folder, at)
  }
  return undefined
}

function parseFolder(bytes: Buffer): FatEntry[] {
  const entries: FatEntry[] = []
  let long = ''
  for (let at = 0; at + FAT_ENTRY_BYTES <= bytes.length && bytes[at] !== 0; at += FAT_ENTRY_BYTES) {
    const entry = bytes.subarray(at, at + FAT_ENTRY_BYTES)
    const attributes = entry[11]!
    if (entry[0] === 0xe5) long = ''
    else if ((attributes & LONG_NAME_ATTRIBUTE) === LONG_NAME_ATTRIBUTE) long = longPart(entry) + long
    else if ((attributes & VOLUME_LABEL) === 0) {
      const name = long === '' ? shortName(entry) : long.replace(/\0.*$/s, '')
      long = ''
      if (name === '.' || name === '..') continue
      entries.push({
        name,
        kind: (attributes & DIRECTORY) !== 0 ? 'directory' : 'file',
        size: entry.readUInt32LE(28),
        cluster: (entry.readUInt16LE(20) << 16) | entry.readUInt16LE(26),
      })
    }
  }
  return entries
}

/** Thirteen UTF-16 letters of a long name, in three pieces. The entries of a name come last part first. */
const longPart = (entry: Buffer): string =>
  [entry.subarray(1, 11), entry.subarray(14, 26), entry.subarray(28, 32)]
    .map((part) => part.toString('utf16le'))
    .join('')

/** Short name of an entry. Byte 12 has Windows NT's flags for lower case. */
function shortName(entry: Buffer): string {
  const text = (from: number, to: number, lower: number) => {
    const part = entry.toString('latin1', from, to).trimEnd()
    return (entry[12]! & lower) !== 0 ? part.toLowerCase() : part
  }
  const extension = text(8, 11, 0x10)
  return text(0, 8, 0x08) + (extension === '' ? '' : `.${extension}`)
}
