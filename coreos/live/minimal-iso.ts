import { createHash } from 'node:crypto'
import type { Clock } from '../../base/runtime/index.js'
import {
  ByteReader,
  type ByteSource,
  bytesSource,
  memorySource,
  overlaySource,
  type Patch,
  sliceSource,
  streamSource,
  decompressXz,
} from '../../base/bytes/index.js'
import { KARGS_INFO, type KargsInfo } from './kargs-areas.js'
import type { LiveIso } from './live-iso.js'
import { findOptional } from './json-file.js'
import { LiveImageError } from '../live-image-error.js'

const MINISO_MAGIC = 'MINISO\0\0'
const SECTOR = 2048
/** Limit of the tool that packs the file. */
const MAX_MINISO_DATA_BYTES = 1024 * 1024
/** Limit for bytes outside of files: descriptors, folders, boot loaders' images. */
const MAX_GAP_BYTES = 64 * 1024 * 1024
/** Limit for files; a live ISO has some thirty. */
const MAX_MINISO_FILES = 10_000

/** Description, in a full ISO, of the minimal ISO that can be made from it. */
interface MinimalData {
  /** Files that both ISOs have: first sector in each, and length in bytes. */
  files: { minimal: number; full: number; length: number }[]
  digest: Buffer
  /** Bytes outside of these files, in order. */
  gaps: Uint8Array
}

/**
 * The minimal ISO of a full one: without the root filesystem, which the live system fetches from `rootfsUrl` if set. Its
 * bytes are composed on each read; nothing is copied.
 *
 * @throws LiveImageError for a customized image, and for one without the data of a minimal ISO
 */
export async function minimalIso(
  full: ByteSource,
  iso: LiveIso,
  { rootfsUrl, clock, open }: { rootfsUrl?: string; clock: Clock; open: (minimal: ByteSource) => Promise<LiveIso> },
): Promise<ByteSource> {
  if (iso.customized)
    throw new LiveImageError(
      'Cannot operate on ISO with embedded customizations.\nReset it with `coreos-installer iso reset` and try again.',
    )
  const entry = await findOptional(iso.filesystem, 'COREOS/MINISO.DAT')
  if (!entry) throw new LiveImageError('This ISO image does not support extracting a minimal ISO.')
  const data = await LiveImageError.during('reading miniso data file', async () => {
    const bytes = await full.read(entry.offset, Math.min(entry.size, MAX_MINISO_DATA_BYTES))
    return readData(Buffer.from(bytes), clock)
  })
  const minimal = composeMinimal(full, data)
  const hash = createHash('sha256')
  for await (const part of streamSource(minimal)) hash.update(part)
  const digest = hash.digest()
  if (!digest.equals(data.digest))
    throw new LiveImageError(
      `wrong final digest: expected ${data.digest.toString('hex')}, found ${digest.toString('hex')}`,
    )
  return LiveImageError.during('modifying miniso kernel args', async () =>
    overlaySource(minimal, await kargsPatches(minimal, await open(minimal), rootfsUrl)),
  )
}

/** Removes the argument that names the medium, since the root filesystem is no longer on it, and adds its URL. */
async function kargsPatches(minimal: ByteSource, iso: LiveIso, rootfsUrl: string | undefined): Promise<Patch[]> {
  if (rootfsUrl !== undefined && /\s/.test(rootfsUrl))
    throw new LiveImageError(`forbidden whitespace found in '${rootfsUrl}'`)
  const { kargs, filesystem } = iso
  if (!kargs) throw new LiveImageError('No karg embed areas found; old or corrupted CoreOS ISO image.')
  const defaults = kargs.default
    .split(' ')
    .filter((argument) => !argument.startsWith('coreos.liveiso='))
    .join(' ')
  const current = rootfsUrl === undefined ? defaults : `${defaults} coreos.live.rootfs_url=${rootfsUrl}`
  const entry = await filesystem.find(KARGS_INFO)
  const info = JSON.parse(Buffer.from(await minimal.read(entry.offset, entry.size)).toString()) as KargsInfo
  const text = Buffer.from(
    JSON.stringify(
      {
        default: defaults,
        files: info.files.map(({ path, offset, pad, end }) => ({ path, offset, pad, end })),
        size: info.size,
      },
      null,
      2,
    ),
  )
  if (text.length > entry.size)
    throw new LiveImageError(`New version of ${KARGS_INFO} does not fit in space (${text.length} vs ${entry.size})`)
  const padded = Buffer.concat([text, Buffer.alloc(entry.size - text.length, ' ')])
  return [{ offset: entry.offset, bytes: padded }, ...kargs.write(current)]
}

async function readData(bytes: Buffer, clock: Clock): Promise<MinimalData> {
  const reader = new Varints(bytes)
  if (bytes.toString('latin1', 0, 8) !== MINISO_MAGIC)
    throw new LiveImageError('validating header', new LiveImageError('not a miniso file!'))
  reader.at = 8
  const version = reader.number()
  if (version !== 1)
    throw new LiveImageError('validating header', new LiveImageError(`incompatible miniso file version: ${version}`))
  reader.take(reader.number())
  const count = reader.number()
  if (count > MAX_MINISO_FILES) throw new LiveImageError(`more than ${MAX_MINISO_FILES} files`)
  const files: MinimalData['files'] = []
  for (let left = count; left > 0; left--)
    files.push({ minimal: reader.number(), full: reader.number(), length: reader.number() })
  const digest = reader.take(32)
  const packed = reader.take(reader.number())
  const gaps: Uint8Array[] = []
  let size = 0
  for await (const part of decompressXz(new ByteReader(memorySource(packed)), clock)) {
    size += part.length
    if (size > MAX_GAP_BYTES) throw new LiveImageError(`more than ${MAX_GAP_BYTES} bytes between files`)
    gaps.push(part)
  }
  return { files, digest, gaps: Buffer.concat(gaps) }
}

/** Numbers as bincode packs them: one byte up to 250; a larger byte is the kind of the little-endian number after it. */
class Varints {
  at = 0
  constructor(readonly bytes: Buffer) {}

  take(length: number): Buffer {
    if (this.at + length > this.bytes.length) throw new LiveImageError('failed to fill whole buffer')
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  number(): number {
    const first = this.take(1)[0]!
    if (first <= 250) return first
    if (first > 253) throw new LiveImageError(`number of unknown size ${first}`)
    const value =
      first === 253
        ? Number(this.take(8).readBigUInt64LE())
        : this.take(first === 251 ? 2 : 4).readUIntLE(0, first === 251 ? 2 : 4)
    if (!Number.isSafeInteger(value)) throw new LiveImageError(`number ${value} is too large`)
    return value
  }
}

/** The minimal ISO: gaps from the data, files from the full image. */
function composeMinimal(full: ByteSource, { files, gaps }: MinimalData): ByteSource {
  const parts: { start: number; source: ByteSource }[] = []
  let size = 0
  let used = 0
  const add = (source: ByteSource) => {
    parts.push({ start: size, source })
    size += source.size
    if (size > full.size) throw new LiveImageError('the minimal ISO would be larger than the full one')
  }
  const gap = (length: number) => {
    if (length < 0 || used + length > gaps.length) throw new LiveImageError('miniso file table does not fit its data')
    add(bytesSource(gaps.subarray(used, used + length)))
    used += length
  }
  for (const { minimal, full: at, length } of [...files].sort((a, b) => a.minimal - b.minimal)) {
    gap(minimal * SECTOR - size)
    if (at * SECTOR + length > full.size) throw new LiveImageError('miniso file table is not within the image')
    add(sliceSource(full, at * SECTOR, length))
  }
  gap(gaps.length - used)
  return {
    size,
    async read(offset, length) {
      const end = Math.min(offset + length, size)
      const read: Uint8Array[] = []
      for (const { start, source } of parts) {
        if (start >= end || start + source.size <= offset) continue
        const from = Math.max(offset, start)
        read.push(await source.read(from - start, Math.min(end, start + source.size) - from))
      }
      return Buffer.concat(read)
    },
  }
}
