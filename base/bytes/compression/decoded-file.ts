import type { Clock } from '../../runtime/index.js'
import { fileStream } from '../byte-stream.js'
import { decompress } from './decompress.js'
import { readXzIndex } from './xz-index.js'
import { hasXzProgram, unxzByProgram } from './xz-program.js'

/**
 * The contents of an image file, decompressed as coreos-installer does. A file that is one whole xz stream is decompressed
 * by the xz of this computer where there is one: half the processor time, and its dictionary is in no memory of ours.
 *
 * @throws DecodeError for a file that it would not take
 */
export async function* decodedFile(path: string, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  if ((await readXzIndex(path, clock)) && (await hasXzProgram(clock))) return yield* unxzByProgram(path, clock)
  const source = await fileStream(path, clock)
  try {
    yield* decompress(source, clock)
  } finally {
    await source[Symbol.asyncDispose]()
  }
}
