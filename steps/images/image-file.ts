import { open } from 'node:fs/promises'
import { withClockHeld, type Clock } from '../../base/runtime/index.js'
import { imageKind, KIND_BYTES, type ImageKind } from './image-kind.js'
import { imageDamagedError } from './image-errors.js'

/** Format of an image, from the first bytes of its file. */
export const kindOfFile = (path: string, clock: Clock): Promise<ImageKind> =>
  withClockHeld(clock, `looking at ${path}`, async () => {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(KIND_BYTES), 0, KIND_BYTES, 0)
      return imageKind(buffer.subarray(0, bytesRead))
    } finally {
      await file.close()
    }
  })

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
    throw imageDamagedError(shown, cause)
  }
}
