import {
  ByteReader,
  decompressMember,
  FormatError,
  detectCompression,
  streamFrom,
  type ByteStream,
} from '../../bytes/index.js'
import type { Clock } from '../../runtime/index.js'

/** No layer of a real system has a tenth of it; a few bytes of gzip can become any number. */
const MAX_LAYER_BYTES = 32 * 2 ** 30

/**
 * The tar archive in a layer: plain, gzip (several members, as eStargz makes them) or zstd, which its first bytes show. The
 * layer is read to its end, since only there it is verified.
 *
 * @throws FormatError
 */
export function layerArchive(layer: ByteStream, clock: Clock, most = MAX_LAYER_BYTES): ByteStream {
  return streamFrom(unpacked(new ByteReader(layer), clock, most))
}

async function* unpacked(input: ByteReader, clock: Clock, most: number): AsyncGenerator<Uint8Array, void, undefined> {
  const format = detectCompression(await input.peek(6))
  let size = 0
  const counted = (bytes: Uint8Array): Uint8Array => {
    size += bytes.length
    if (size > most) throw new FormatError(`a layer has more than ${most} bytes`)
    return bytes
  }
  if (format === 'raw') {
    for (let bytes = await input.next(); bytes; bytes = await input.next()) yield counted(bytes)
    return
  }
  for (let start = await input.peek(6); start.length > 0; start = await input.peek(6)) {
    if (detectCompression(start) !== format)
      throw new FormatError('a layer has something behind its compressed archive')
    for await (const bytes of decompressMember(input, format, clock)) yield counted(bytes)
  }
}
