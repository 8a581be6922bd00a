import type { Clock } from '../../runtime/index.js'
import { fileStream } from '../byte-stream.js'
import { decompress } from './decompress.js'

/**
 * The contents of an image file, decompressed as coreos-installer does.
 *
 * @throws DecodeError for a file that it would not take
 */
export async function* decodedFile(path: string, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const source = await fileStream(path, clock)
  try {
    yield* decompress(source, clock)
  } finally {
    await source[Symbol.asyncDispose]()
  }
}
