import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { withClockHeld, type Clock } from '../../base/runtime/index.js'
import { isZero, loadZstd, zeroRuns } from '../../base/bytes/index.js'

/** Bytes of an image per frame: compressed without a pause, and the memory that a reader needs; whole blocks. */
const FRAME = 2 * 2 ** 20

/** Digest and size of bytes. */
interface Measured {
  sha256: string
  size: number
}

/** Another form of an image: the file of zstd frames, or the contents themselves in a sparse file. */
export type Transcoded =
  | (Measured & { contents: Measured })
  /** `blocks`: {@link blocksDigest} of the contents. */
  | { as: 'raw'; blocks: string; contents: Measured }

/** Bytes of a block that has a digest of its own. */
export const DIGEST_BLOCK_BYTES = 2 ** 20

/**
 * SHA-256 of the SHA-256 of all blocks, which can be hashed side by side.
 *
 * @param blocks null for a block of zeros
 */
export function blocksDigest(blocks: readonly (Uint8Array | null)[]): string {
  const hash = createHash('sha256')
  for (const block of blocks) hash.update(block ?? ZERO_DIGEST)
  return hash.digest('hex')
}

const ZERO_DIGEST = Buffer.alloc(32)

interface Transcoding {
  /** Decompressed bytes. */
  contents: AsyncIterable<Uint8Array>
  /** Path of the new file. */
  path: string
  clock: Clock
  signal: AbortSignal
}

/**
 * Writes contents as zstd frames. Each frame is decompressed and compared at once, so that a fault of the library or of
 * memory cannot damage an image.
 */
export async function transcodeToZstd(work: Transcoding): Promise<Transcoded> {
  const { compress, decompress } = await loadZstd()
  const frames = createHash('sha256')
  let size = 0
  const contents = await inBlocks(work, async (piece, offset, file) => {
    const frame = compress(piece)
    if (!piece.equals(decompress(frame, piece.length)))
      throw new Error(`zstd does not reproduce its input at ${offset}`)
    frames.update(frame)
    size += frame.length
    await file.appendFile(frame)
  })
  return { sha256: frames.digest('hex'), size, contents }
}

/** Writes contents as they are; runs of zeros take no room. */
export async function transcodeToRaw(work: Transcoding): Promise<Transcoded> {
  const blocks: (Uint8Array | null)[] = []
  const contents = await inBlocks(work, async (piece, start, file) => {
    for (let at = 0; at < piece.length; at += DIGEST_BLOCK_BYTES) {
      const block = piece.subarray(at, at + DIGEST_BLOCK_BYTES)
      blocks.push(isZero(block) ? null : createHash('sha256').update(block).digest())
    }
    for (const { offset, bytes, zero } of zeroRuns(start, piece)) if (!zero) await writeAt(file, bytes, offset)
    await file.truncate(start + piece.length)
  })
  return { as: 'raw', blocks: blocksDigest(blocks), contents }
}

/** Writes a file block by block; measures the contents. */
async function inBlocks(
  { contents, path, clock, signal }: Transcoding,
  put: (block: Buffer, offset: number, file: FileHandle) => Promise<void>,
): Promise<Measured> {
  const whole = createHash('sha256')
  const file = await withClockHeld(clock, `opening ${path}`, () => open(path, 'w', 0o600))
  let written = 0
  let filled = 0
  const block = Buffer.alloc(FRAME)
  const write = async () => {
    signal.throwIfAborted()
    await withClockHeld(clock, `writing ${path}`, () => put(block.subarray(0, filled), written, file))
    written += filled
    filled = 0
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
    }
    if (filled > 0) await write()
    await withClockHeld(clock, `writing ${path}`, () => file.sync())
  } finally {
    await withClockHeld(clock, `closing ${path}`, () => file.close())
  }
  return { sha256: whole.digest('hex'), size: written }
}

async function writeAt(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at, offset + at)).bytesWritten
}
