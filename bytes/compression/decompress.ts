import type { Clock } from '../../runtime/index.js'
import { PeekableSource, type ByteStream } from '../byte-stream.js'
import { gunzip } from './decompress-gzip.js'
import { unxz } from './decompress-xz.js'
import { isZstdFrame, unzstd } from './decompress-zstd.js'

export type Compression = 'raw' | 'gz' | 'xz' | 'zst'

/** Recognises a format by its first bytes, never by a name. */
export function sniff(start: Uint8Array): Compression {
  const begins = (...magic: number[]) => magic.every((byte, index) => start[index] === byte)
  if (begins(0x1f, 0x8b)) return 'gz'
  if (begins(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00)) return 'xz'
  if (isZstdFrame(start)) return 'zst'
  return 'raw'
}

/**
 * The decompressed bytes of a source, piece by piece, read no faster than they are taken. One gzip member or xz stream
 * and nothing behind it, as coreos-installer has it; zstd frames may follow each other.
 *
 * @throws DecodeError
 */
export async function* decompress(source: ByteStream, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const input = new PeekableSource(source)
  const format = sniff(await input.peek(6))
  switch (format) {
    case 'raw':
      return yield* raw(input)
    case 'gz':
      return yield* gunzip(input, clock)
    case 'xz':
      return yield* unxz(input, clock)
    case 'zst':
      return yield* unzstd(input)
  }
}

async function* raw(input: ByteStream): AsyncGenerator<Uint8Array, void, undefined> {
  for (let bytes = await input.next(); bytes; bytes = await input.next()) yield bytes
}
