import { Decompress } from 'fzstd'
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import { held, type Clock } from '../../runtime/index.js'
import type { ByteReader } from '../byte-reader.js'
import { LiveImageError } from '../failure.js'
import { unxz } from './xz.js'
import { LARGEST_ZSTD_WINDOW, LONGEST_ZSTD_HEADER, ZSTD_TOO_MUCH_MEMORY, zstdFrame } from './zstd-frame.js'

/** How an archive of an initramfs is stored. */
export type Compression = 'none' | 'gzip' | 'xz' | 'zstd'

const MAGIC: readonly (readonly [Compression, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
]

/** By its first bytes, as coreos-installer and kernels do. */
export async function compressionOf(reader: ByteReader): Promise<Compression> {
  const head = await reader.peek(6)
  return MAGIC.find(([, magic]) => magic.every((byte, index) => head[index] === byte))?.[0] ?? 'none'
}

/** The contents of what comes next, which is compressed; the reader is left at what follows it. */
export function decompressed(
  reader: ByteReader,
  compression: Exclude<Compression, 'none'>,
  clock: Clock,
): AsyncGenerator<Uint8Array, void, undefined> {
  switch (compression) {
    case 'gzip':
      return gunzip(reader, clock)
    case 'xz':
      return unxz(reader, clock)
    case 'zstd':
      return unzstd(reader)
  }
}

/** One member: Node's own gunzip takes whatever follows it for another one, and does not tell where it ended. */
async function* gunzip(reader: ByteReader, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  await skipGzipHeader(reader)
  const begin = reader.position
  const decoder = createInflateRaw()
  let failed = false
  let last: Uint8Array = Buffer.alloc(0)
  decoder.on('error', () => (failed = true))
  const feeding = (async () => {
    for (;;) {
      const piece = await reader.next()
      if (!piece || decoder.destroyed) break
      last = piece
      await held(clock, 'decompressing gzip', () => written(decoder, piece))
      // It took less than it was given: the end.
      if (decoder.bytesWritten < reader.position - begin) break
    }
    decoder.end()
  })()
  feeding.catch((error: unknown) => decoder.destroy(error instanceof Error ? error : undefined))
  let crc = 0
  let size = 0
  try {
    for await (const part of decoder as AsyncIterable<Buffer>) {
      crc = crc32(part, crc)
      size += part.length
      yield part
    }
  } catch (error) {
    throw failed ? new LiveImageError(gzipSentence(error)) : error
  } finally {
    decoder.destroy()
    await feeding
  }
  const over = reader.position - begin - decoder.bytesWritten
  reader.unread(last.subarray(last.length - over))
  const trailer = Buffer.from(await reader.exactly(8))
  if (trailer.readUInt32LE(0) !== crc || trailer.readUInt32LE(4) !== size % 2 ** 32)
    throw new LiveImageError('corrupt gzip stream does not have a matching checksum')
}

/** RFC 1952: name, comment and an extra field may be there. */
async function skipGzipHeader(reader: ByteReader): Promise<void> {
  const header = Buffer.from(await reader.exactly(10))
  const flags = header[3]!
  if (header[2] !== 8 || (flags & 0xe0) !== 0) throw new LiveImageError('invalid gzip header')
  if ((flags & 4) !== 0) await reader.skip(Buffer.from(await reader.exactly(2)).readUInt16LE())
  for (const flag of [8, 16]) if ((flags & flag) !== 0) while ((await reader.exactly(1))[0] !== 0);
  if ((flags & 2) !== 0) await reader.skip(2)
}

/** Resolves when the decoder has taken a piece, or was closed. */
const written = (decoder: InflateRaw, piece: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    const settled = () => {
      decoder.off('close', settled)
      resolve()
    }
    decoder.once('close', settled)
    decoder.write(piece, settled)
  })

const gzipSentence = (error: unknown): string =>
  error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR'
    ? 'unexpected end of file'
    : 'corrupt deflate stream'

/** A frame's blocks are walked here, since the decoder cannot tell where a frame ends. */
async function* unzstd(reader: ByteReader): AsyncGenerator<Uint8Array, void, undefined> {
  let output: Uint8Array[] = []
  const decoder = new Decompress((part) => output.push(part.slice()))
  const push = (bytes: Uint8Array, final = false): Uint8Array[] => {
    try {
      decoder.push(bytes, final)
    } catch (cause) {
      throw new LiveImageError(`zstd: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
    const ready = output
    output = []
    return ready
  }
  const frame = zstdFrame(Buffer.from(await reader.peek(LONGEST_ZSTD_HEADER)))
  if (!frame) throw new LiveImageError('failed to fill whole buffer')
  if (frame.window > LARGEST_ZSTD_WINDOW) throw new LiveImageError(`zstd: ${ZSTD_TOO_MUCH_MEMORY}`)
  yield* push(await reader.exactly(frame.headerLength))
  for (let last = false; !last;) {
    const block = Buffer.from(await reader.peek(3))
    if (block.length < 3) throw new LiveImageError('failed to fill whole buffer')
    const bits = block.readUIntLE(0, 3)
    last = (bits & 1) !== 0
    const kind = (bits >> 1) & 3
    yield* push(await reader.exactly(3 + (kind === 1 ? 1 : bits >> 3)), last && frame.checksumLength === 0)
  }
  if (frame.checksumLength > 0) yield* push(await reader.exactly(frame.checksumLength), true)
}
