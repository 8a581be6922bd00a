import { inflateRawSync, constants } from 'node:zlib'
import { Decompress } from 'fzstd'
import { StepError } from '../sdk/step.js'

/** Contents of a disk, independent of the format of their file. */
export interface DiskContents {
  /** Bytes. */
  size: number
  read(offset: number, length: number): Promise<Buffer>
  /** Number of bytes from an offset that are known to be zeros without reading them; 0 when unknown. */
  zeros(offset: number): Promise<number>
}

interface File {
  size: number
  read(offset: number, length: number): Promise<Buffer>
}

const QCOW2_MAGIC = 0x514649fb
/** Bits 9 to 55 of a table's entry. */
const OFFSET = 0x00ff_ffff_ffff_fe00n
const COMPRESSED = 1n << 62n
/** Since version 3: the cluster reads as zeros, and its offset does not count. */
const ZERO = 1n
/** Supported incompatible features: 0 dirty (reference counts, which reading does not need), 3 another compression. */
const KNOWN_FEATURES = (1n << 0n) | (1n << 3n)
const MAX_QCOW2_TABLES = 4 * 1024 * 1024
/** Second-level tables in memory. */
const MAX_CACHED_TABLES = 16

export const isQcow2 = (start: Buffer): boolean => start.length >= 4 && start.readUInt32BE(0) === QCOW2_MAGIC

/**
 * Opens a qcow2 image of version 2 or 3 (QEMU's docs/interop/qcow2.txt). Images that need another file, a key or unsupported
 * features are refused, since their bytes would be wrong.
 *
 * @throws StepError of type ImageWriteError
 */
export async function openQcow2(file: File): Promise<DiskContents> {
  const layout = parseQcow2Header(await file.read(0, 112))
  const firstTable = await readFully(file, layout.firstTableOffset, layout.firstTableEntries * 8)
  return new Qcow2Contents(file, layout, firstTable)
}

/** Facts of the header that the clusters are found and read by. */
interface Qcow2Layout {
  version: number
  /** Size of the disk, in bytes. */
  size: number
  /** A cluster has two to the power of this many bytes. */
  clusterBits: number
  compression: 'deflate' | 'zstd'
  firstTableOffset: number
  firstTableEntries: number
}

function parseQcow2Header(header: Buffer): Qcow2Layout {
  if (header.length < 72 || !isQcow2(header)) throw qcow2Error('it is not a qcow2 image')
  const version = header.readUInt32BE(4)
  if (version !== 2 && version !== 3) throw qcow2Error(`it has version ${version} of qcow2`)
  if (header.readBigUInt64BE(8) !== 0n) throw qcow2Error('it is based on another image')
  if (header.readUInt32BE(32) !== 0) throw qcow2Error('it is encrypted')
  const clusterBits = header.readUInt32BE(20)
  if (clusterBits < 9 || clusterBits > 21) throw qcow2Error(`its clusters have 2^${clusterBits} bytes`)
  checkQcow2Features(version === 3 ? header.readBigUInt64BE(72) : 0n)
  // Only a header of at least 105 bytes has the byte that names the compression.
  const compression = version === 3 && header.readUInt32BE(100) >= 105 ? header[104]! : 0
  if (compression > 1) throw qcow2Error(`it has the compression ${compression}`)
  const size = Number(header.readBigUInt64BE(24))
  const firstTableEntries = header.readUInt32BE(36)
  const cluster = 2 ** clusterBits
  const neededEntries = Math.ceil(size / (cluster * entriesPerCluster(cluster)))
  if (firstTableEntries > MAX_QCOW2_TABLES || firstTableEntries < neededEntries || !Number.isSafeInteger(size))
    throw qcow2Error('its tables do not fit its size')
  return {
    version,
    size,
    clusterBits,
    compression: compression === 1 ? 'zstd' : 'deflate',
    firstTableOffset: Number(header.readBigUInt64BE(40)),
    firstTableEntries,
  }
}

function checkQcow2Features(features: bigint): void {
  if ((features & ~KNOWN_FEATURES) === 0n) return
  throw qcow2Error(
    `it needs features that are not known (0x${features.toString(16)}): corrupt, data in another file, or subclusters`,
  )
}

/** Number of entries of a second-level table, which fills one cluster. */
const entriesPerCluster = (cluster: number): number => cluster / 8

/** Contents of an image, found through its two levels of tables. */
class Qcow2Contents implements DiskContents {
  readonly size: number
  readonly #file: File
  readonly #layout: Qcow2Layout
  readonly #firstTable: Buffer
  /** Bytes of a cluster. */
  readonly #cluster: number
  readonly #perTable: number
  /** Second-level tables by their offset, the oldest first. */
  readonly #cachedTables = new Map<number, Buffer>()

  constructor(file: File, layout: Qcow2Layout, firstTable: Buffer) {
    this.size = layout.size
    this.#file = file
    this.#layout = layout
    this.#firstTable = firstTable
    this.#cluster = 2 ** layout.clusterBits
    this.#perTable = entriesPerCluster(this.#cluster)
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const end = Math.min(this.size, offset + length)
    const parts: Buffer[] = []
    for (let at = offset; at < end;) {
      const index = Math.floor(at / this.#cluster)
      const within = at - index * this.#cluster
      const part = Math.min(this.#cluster - within, end - at)
      const bytes = await this.#readCluster(index)
      parts.push(bytes.subarray(within, within + part))
      at += part
    }
    return Buffer.concat(parts)
  }

  async zeros(offset: number): Promise<number> {
    let at = offset
    while (at < this.size) {
      const index = Math.floor(at / this.#cluster)
      if (this.#tableOffset(index) === 0) at = (Math.floor(index / this.#perTable) + 1) * this.#perTable * this.#cluster
      else if ((await this.#clusterEntry(index)) === 0n) at = (index + 1) * this.#cluster
      else break
    }
    return Math.min(this.size, at) - offset
  }

  async #readCluster(index: number): Promise<Buffer> {
    const entry = await this.#clusterEntry(index)
    if (entry === 0n) return Buffer.alloc(this.#cluster)
    if ((entry & COMPRESSED) !== 0n) return this.#readCompressed(index, entry)
    const bytes = await this.#file.read(Number(entry), this.#cluster)
    if (bytes.length === this.#cluster) return bytes
    // The last cluster of a file may be cut short.
    return Buffer.concat([bytes, Buffer.alloc(this.#cluster - bytes.length)])
  }

  async #readCompressed(index: number, entry: bigint): Promise<Buffer> {
    const shift = BigInt(62 - (this.#layout.clusterBits - 8))
    const offset = Number(entry & ((1n << shift) - 1n))
    const sectors = Number((entry & (COMPRESSED - 1n)) >> shift) + 1
    const packed = await this.#file.read(offset, sectors * 512 - (offset % 512))
    const bytes = this.#layout.compression === 'zstd' ? unzstd(packed, this.#cluster) : inflate(packed)
    if (bytes.length < this.#cluster) throw qcow2Error(`its compressed cluster ${index} is cut short`)
    return bytes.subarray(0, this.#cluster)
  }

  /** Entry of a cluster; 0n for one that reads as zeros. */
  async #clusterEntry(index: number): Promise<bigint> {
    const tableOffset = this.#tableOffset(index)
    if (tableOffset === 0) return 0n
    const table = await this.#tableAt(tableOffset)
    const entry = table.readBigUInt64BE((index % this.#perTable) * 8)
    if ((entry & COMPRESSED) !== 0n) return entry
    return this.#layout.version === 3 && (entry & ZERO) !== 0n ? 0n : entry & OFFSET
  }

  /** Where the second-level table of a cluster begins; 0 when there is none, since all its clusters read as zeros. */
  #tableOffset(index: number): number {
    return Number(this.#firstTable.readBigUInt64BE(Math.floor(index / this.#perTable) * 8) & OFFSET)
  }

  async #tableAt(offset: number): Promise<Buffer> {
    const known = this.#cachedTables.get(offset)
    if (known) return known
    const table = await readFully(this.#file, offset, this.#cluster)
    if (this.#cachedTables.size >= MAX_CACHED_TABLES) this.#cachedTables.delete(this.#cachedTables.keys().next().value!)
    this.#cachedTables.set(offset, table)
    return table
  }
}

async function readFully(file: File, offset: number, length: number): Promise<Buffer> {
  const bytes = await file.read(offset, length)
  if (bytes.length < length) throw qcow2Error('it is cut short')
  return bytes
}

/** Decompresses a cluster; the bytes after it in the last sector belong to another cluster. */
function inflate(packed: Buffer): Buffer {
  try {
    return inflateRawSync(packed, { finishFlush: constants.Z_SYNC_FLUSH })
  } catch (cause) {
    throw qcow2Error('one of its compressed clusters is damaged', cause)
  }
}

function unzstd(packed: Buffer, wanted: number): Buffer {
  const parts: Uint8Array[] = []
  let length = 0
  const stream = new Decompress((part) => {
    parts.push(part)
    length += part.length
  })
  try {
    stream.push(packed, true)
  } catch (cause) {
    if (length < wanted) throw qcow2Error('one of its compressed clusters is damaged', cause)
  }
  return Buffer.concat(parts)
}

const qcow2Error = (why: string, cause?: unknown) =>
  new StepError(`the qcow2 image cannot be written: ${why}`, { type: 'ImageWriteError', cause })
