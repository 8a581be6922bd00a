import type { Clock } from '../../runtime/index.js'
import { ByteReader } from '../byte-reader.js'
import type { ByteStream } from '../byte-stream.js'
import { expectEnd } from './decode-error.js'
import { gunzipMember } from './decompress-gzip.js'
import { decompressXz } from './decompress-xz.js'
import { isZstdFrame, decompressZstd } from './decompress-zstd.js'

export type Compression = 'raw' | 'gz' | 'xz' | 'zst'

/** Recognises a format by its first bytes, never by a name. */
export function detectCompression(start: Uint8Array): Compression {
  const begins = (...magic: number[]) => magic.every((byte, index) => start[index] === byte)
  if (begins(0x1f, 0x8b)) return 'gz'
  if (begins(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00)) return 'xz'
  if (isZstdFrame(start)) return 'zst'
  return 'raw'
}

/** How often coreos-installer 0.27.0 reads on after the end of an image (measured). */
const READS_AT_END = { gz: 1, xz: 2, zst: 1 } as const

/**
 * The decompressed bytes of an image, piece by piece, read no faster than they are taken. The image is one gzip member,
 * one xz stream or a sequence of zstd frames, and nothing after it.
 *
 * @throws DecodeError
 */
export async function* decompress(source: ByteStream, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const input = source instanceof ByteReader ? source : new ByteReader(source)
  const format = detectCompression(await input.peek(6))
  if (format === 'raw') {
    for (let bytes = await input.next(); bytes; bytes = await input.next()) yield bytes
    return
  }
  yield* decompressMember(input, format, clock)
  await expectEnd(input, READS_AT_END[format])
}

/**
 * The decompressed bytes of the gzip member, the xz stream or the zstd frames that come next; the reader is left at the
 * byte after them, as coreos-installer 0.27.0 io/compress.rs DecompressReader::for_concatenated leaves it.
 *
 * @throws DecodeError
 */
export function decompressMember(
  input: ByteReader,
  format: Exclude<Compression, 'raw'>,
  clock: Clock,
): AsyncGenerator<Uint8Array, void, undefined> {
  switch (format) {
    case 'gz':
      return gunzipMember(input, clock)
    case 'xz':
      return decompressXz(input, clock)
    case 'zst':
      return decompressZstd(input, clock)
  }
}
