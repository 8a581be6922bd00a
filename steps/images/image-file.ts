import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { held, type Clock } from '../../runtime/index.js'
import { imageKind, KIND_BYTES, type ImageKind } from './image-kind.js'
import { damaged } from './verdicts.js'

/** Format of an image, from the first bytes of its file. */
export const kindOfFile = (path: string, clock: Clock): Promise<ImageKind> =>
  held(clock, `looking at ${path}`, async () => {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(KIND_BYTES), 0, KIND_BYTES, 0)
      return imageKind(buffer.subarray(0, bytesRead))
    } finally {
      await file.close()
    }
  })

/** SHA-256 of a file, in hex. */
export async function digestOfFile(path: string, clock: Clock, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  await held(clock, `verifying ${path}`, () => pipeline(createReadStream(path), hash, { signal }))
  return hash.digest('hex')
}

/**
 * Decompresses an image to its end, which verifies its own checksums.
 *
 * @param shown URL of the image, for the message
 * @throws UserError image-damaged
 */
export async function readThrough(
  contents: AsyncIterable<Uint8Array>,
  shown: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const _ of contents) signal.throwIfAborted()
  } catch (cause) {
    signal.throwIfAborted()
    throw damaged(shown, cause)
  }
}
