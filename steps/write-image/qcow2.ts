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
  const header = await file.read(0, 112)
  if (header.length < 72 || !isQcow2(header)) throw qcow2Error('it is not a qcow2 image')
  const version = header.readUInt32BE(4)
  if (version !== 2 && version !== 3) throw qcow2Error(`it has version ${version} of qcow2`)
  if (header.readBigUInt64BE(8) !== 0n) throw qcow2Error('it is based on another image')
  if (header.readUInt32BE(32) !== 0) throw qcow2Error('it is encrypted')
  const bits = header.readUInt32BE(20)
  if (bits < 9 || bits > 21) throw qcow2Error(`its clusters have 2^${bits} bytes`)
  const features = version === 3 ? header.readBigUInt64BE(72) : 0n
  if ((features & ~KNOWN_FEATURES) !== 0n)
    throw qcow2Error(
      `it needs features that are not known (0x${features.toString(16)}): corrupt, data in another file, or subclusters`,
    )
  const compression = version === 3 && header.readUInt32BE(100) >= 105 ? header[104]! : 0
  if (compression > 1) throw qcow2Error(`it has the compression ${compression}`)
  const size = Number(header.readBigUInt64BE(24))
  const cluster = 2 ** bits
  const perTable = cluster / 8
  const tables = header.readUInt32BE(36)
  const needed = Math.ceil(size / (cluster * perTable))
  if (tables > MAX_QCOW2_TABLES || tables < needed || !Number.isSafeInteger(size))
    throw qcow2Error('its tables do not fit its size')
  const l1 = await readFully(file, Number(header.readBigUInt64BE(40)), tables * 8)

  const cache = new Map<number, Buffer>()
  const tableAt = async (offset: number): Promise<Buffer> => {
    const known = cache.get(offset)
    if (known) return known
    const table = await readFully(file, offset, cluster)
    if (cache.size >= MAX_CACHED_TABLES) cache.delete(cache.keys().next().value!)
    cache.set(offset, table)
    return table
  }
  const l1Entry = (index: number) => Number(l1.readBigUInt64BE(Math.floor(index / perTable) * 8) & OFFSET)
  /** Entry of a cluster; 0n for one that reads as zeros. */
  const entryOf = async (index: number): Promise<bigint> => {
    const table = l1Entry(index)
    if (table === 0) return 0n
    const entry = (await tableAt(table)).readBigUInt64BE((index % perTable) * 8)
    if ((entry & COMPRESSED) !== 0n) return entry
    return version === 3 && (entry & ZERO) !== 0n ? 0n : entry & OFFSET
  }
  const clusterOf = async (index: number): Promise<Buffer> => {
    const entry = await entryOf(index)
    if (entry === 0n) return Buffer.alloc(cluster)
    if ((entry & COMPRESSED) === 0n) {
      const bytes = await file.read(Number(entry), cluster)
      // The last cluster of a file may be cut short.
      return bytes.length === cluster ? bytes : Buffer.concat([bytes, Buffer.alloc(cluster - bytes.length)])
    }
    const shift = BigInt(62 - (bits - 8))
    const offset = Number(entry & ((1n << shift) - 1n))
    const sectors = Number((entry & (COMPRESSED - 1n)) >> shift) + 1
    const packed = await file.read(offset, sectors * 512 - (offset % 512))
    const bytes = compression === 1 ? unzstd(packed, cluster) : inflate(packed)
    if (bytes.length < cluster) throw qcow2Error(`its compressed cluster ${index} is cut short`)
    return bytes.subarray(0, cluster)
  }

  return {
    size,
    read: async (offset, length) => {
      const end = Math.min(size, offset + length)
      const parts: Buffer[] = []
      for (let at = offset; at < end;) {
        const index = Math.floor(at / cluster)
        const within = at - index * cluster
        const part = Math.min(cluster - within, end - at)
        parts.push((await clusterOf(index)).subarray(within, within + part))
        at += part
      }
      return Buffer.concat(parts)
    },
    zeros: async (offset) => {
      let at = offset
      while (at < size) {
        const index = Math.floor(at / cluster)
        if (l1Entry(index) === 0) at = (Math.floor(index / perTable) + 1) * perTable * cluster
        else if ((await entryOf(index)) === 0n) at = (index + 1) * cluster
        else break
      }
      return Math.min(size, at) - offset
    },
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
