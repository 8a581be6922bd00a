import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { held, type Clock } from '../../runtime/index.js'
import { imageKind, KIND_BYTES, type ImageKind } from './image-kind.js'
import { BLOCK } from './transcode.js'
import { damaged } from './image-errors.js'

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

const PART = BLOCK

/** SHA-256 of a file, in hex. */
export const digestOfFile = (path: string, clock: Clock, signal: AbortSignal): Promise<string> =>
  held(clock, `verifying ${path}`, async () => {
    const hash = createHash('sha256')
    await readParts(path, signal, (part) => void hash.update(part))
    return hash.digest('hex')
  })

/** Reads a file; the next part is read while one is used, and reused for the one after. */
export async function readParts(
  path: string,
  signal: AbortSignal,
  use: (part: Buffer) => void | Promise<void>,
): Promise<void> {
  const file = await open(path)
  try {
    const read = async (into: Buffer) => {
      let filled = 0
      for (let more = 1; more > 0 && filled < PART; filled += more)
        more = (await file.read(into, filled, PART - filled, null)).bytesRead
      return into.subarray(0, filled)
    }
    const buffers = [0, 1, 2].map(() => Buffer.allocUnsafe(PART))
    let coming = read(buffers[0]!)
    for (let place = 1; ; place++) {
      const part = await coming
      signal.throwIfAborted()
      if (part.length === 0) return
      coming = read(buffers[place % 3]!)
      try {
        await use(part)
      } catch (error) {
        await coming
        throw error
      }
    }
  } finally {
    await file.close()
  }
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
