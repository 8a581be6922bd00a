import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { held, type Clock } from '../../runtime/index.js'
import { loadZstd } from '../../bytes/index.js'

/** A frame holds so much of an image: what is compressed without a pause, and what a reader of it must remember. */
const FRAME = 2 * 2 ** 20

export interface Transcoded {
  /** Of the new file. */
  sha256: string
  size: number
  /** Of what is in both. */
  contents: { sha256: string; size: number }
}

/**
 * Writes contents again as zstd frames. Each frame is decompressed at once and compared, so what comes out is what went
 * in, whatever library and memory did.
 *
 * @param contents decompressed, as they come
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
    if (!piece.equals(decompress(frame))) throw new Error(`zstd does not give back what it was given at ${read}`)
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
