import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { held, type Clock } from '../../runtime/index.js'
import { loadZstd } from '../../bytes/index.js'

/** Bytes of an image per frame: compressed without a pause, and the memory that a reader needs. */
const FRAME = 2 * 2 ** 20

export interface Transcoded {
  /** Digest of the new file. */
  sha256: string
  size: number
  /** Digest and size of the decompressed contents. */
  contents: { sha256: string; size: number }
}

/**
 * Writes contents as zstd frames. Each frame is decompressed and compared at once, so that a fault of the library or of
 * memory cannot damage an image.
 *
 * @param contents decompressed bytes
 */
export async function transcode(
  contents: AsyncIterable<Uint8Array>,
  path: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Transcoded> {
  const { compress, decompress } = await loadZstd()
  const [whole, frames] = [createHash('sha256'), createHash('sha256')]
  const file = await held(clock, `opening ${path}`, () => open(path, 'w', 0o600))
  let [size, read, filled] = [0, 0, 0]
  const block = Buffer.alloc(FRAME)
  const write = async () => {
    signal.throwIfAborted()
    const piece = block.subarray(0, filled)
    filled = 0
    const frame = compress(piece)
    if (!piece.equals(decompress(frame))) throw new Error(`zstd does not reproduce its input at ${read}`)
    frames.update(frame)
    size += frame.length
    await held(clock, `writing ${path}`, () => file.appendFile(frame))
  }
  try {
    for await (const part of contents) {
      whole.update(part)
      for (let at = 0; at < part.length;) {
        const taken = Math.min(FRAME - filled, part.length - at)
        block.set(part.subarray(at, at + taken), filled)
        filled += taken
        at += taken
        if (filled === FRAME) await write()
      }
      read += part.length
    }
    if (filled > 0) await write()
    await held(clock, `writing ${path}`, () => file.sync())
  } finally {
    await held(clock, `closing ${path}`, () => file.close())
  }
  return { sha256: frames.digest('hex'), size, contents: { sha256: whole.digest('hex'), size: read } }
}
