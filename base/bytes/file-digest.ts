import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { withClockHeld, type Clock } from '../runtime/index.js'

export interface FileDigestOptions {
  /** Name of the hash as Node has it; `sha256` by default. */
  algorithm?: string
  signal?: AbortSignal
}

/**
 * Digest of a file of this host, in hex with small letters. The clock is held while the file is read.
 *
 * @throws the kernel's error when the file cannot be read; the signal's reason
 */
export const digestOfFile = (
  path: string,
  clock: Clock,
  { algorithm = 'sha256', signal }: FileDigestOptions = {},
): Promise<string> =>
  withClockHeld(clock, `reading ${path}`, async () => {
    const hash = createHash(algorithm)
    await readParts(path, PART, signal, (part) => void hash.update(part))
    return hash.digest('hex')
  })

/** SHA-256 of bytes that come in parts, in hex with small letters. */
export async function sha256OfParts(parts: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of parts) hash.update(bytes)
  return hash.digest('hex')
}

const PART = 2 ** 20

/**
 * Reads a file in parts; the next part is read while one is used. A part is overwritten by the second one after it.
 *
 * @param size bytes of a part; the last one may be shorter
 * @throws the kernel's error when the file cannot be read; the signal's reason; an error of `use`
 */
export async function readParts(
  path: string,
  size: number,
  signal: AbortSignal | undefined,
  use: (part: Buffer) => void | Promise<void>,
): Promise<void> {
  const file = await open(path)
  try {
    const read = async (into: Buffer) => {
      let filled = 0
      for (let more = 1; more > 0 && filled < size; filled += more)
        more = (await file.read(into, filled, size - filled, null)).bytesRead
      return into.subarray(0, filled)
    }
    const buffers = [0, 1, 2].map(() => Buffer.allocUnsafe(size))
    let coming = read(buffers[0]!)
    for (let place = 1; ; place++) {
      const part = await coming
      signal?.throwIfAborted()
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
