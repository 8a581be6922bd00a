import { Decompress } from 'fzstd'
import { LARGEST_ZSTD_WINDOW, LONGEST_ZSTD_HEADER, ZSTD_TOO_MUCH_MEMORY, zstdFrame } from './zstd-frame.js'
import type { PeekableSource } from '../byte-stream.js'
import { DecodeError, expectEnd, TRAILING_DATA } from './decode-error.js'

const MAGIC = 0xfd2fb528
/** Sixteen magic numbers announce a frame to skip (RFC 8878, 3.1.2). */
const SKIPPABLE = 0x184d2a50
const TRUNCATED = 'premature EOF reading zstd frame'
const CORRUPT = 'Data corruption detected'

export function isZstdFrame(start: Uint8Array): boolean {
  if (start.length < 4) return false
  const magic = Buffer.from(start.subarray(0, 4)).readUInt32LE()
  return magic === MAGIC || (magic & 0xfffffff0) >>> 0 === SKIPPABLE
}

/**
 * Frames one after the other. Their ends are found here, block by block, since the decoder does not tell where it
 * stopped; it is given one block at a time, 128 KiB of output at most.
 */
export async function* unzstd(input: PeekableSource): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const start = await input.peek(4)
    if (start.length === 0) return expectEnd(input, 1)
    if (!isZstdFrame(start)) throw new DecodeError(TRAILING_DATA)
    if (start.readUInt32LE() === MAGIC) yield* frame(input)
    else await skip(input, 8 + (await need(input, 8)).readUInt32LE(4))
  }
}

async function* frame(input: PeekableSource): AsyncGenerator<Uint8Array, void, undefined> {
  const output: Uint8Array[] = []
  const decoder = new Decompress((bytes) => {
    if (bytes.length > 0) output.push(bytes)
  })
  const feed = (bytes: Uint8Array, last: boolean) => {
    try {
      decoder.push(bytes, last)
    } catch (cause) {
      throw new DecodeError(CORRUPT, { cause })
    }
    return output.splice(0)
  }
  const header = zstdFrame(await input.peek(LONGEST_ZSTD_HEADER))
  if (!header) throw new DecodeError(TRUNCATED)
  if (header.window > LARGEST_ZSTD_WINDOW) throw new DecodeError(ZSTD_TOO_MUCH_MEMORY)
  yield* feed(await take(input, header.headerLength), false)
  let length = 0
  for (let last = false; !last;) {
    const block = (await need(input, 3)).readUIntLE(0, 3)
    last = (block & 1) === 1
    // A run-length block stores one byte, whatever its size says.
    const stored = ((block >> 1) & 3) === 1 ? 1 : block >> 3
    const bytes = await take(input, 3 + stored + (last ? header.checksumLength : 0))
    for (const part of feed(bytes, last)) {
      length += part.length
      yield part
    }
  }
  // The decoder does not look at the checksum; the length it does give away.
  if (header.contentSize !== undefined && header.contentSize !== length) throw new DecodeError(CORRUPT)
}

async function need(input: PeekableSource, length: number): Promise<Buffer> {
  const bytes = await input.peek(length)
  if (bytes.length < length) throw new DecodeError(TRUNCATED)
  return bytes
}

async function take(input: PeekableSource, length: number): Promise<Buffer> {
  const bytes = await need(input, length)
  await input.next()
  input.unread(bytes.subarray(length))
  return bytes.subarray(0, length)
}

/** Passes by, without keeping what may be 4 GiB. */
async function skip(input: PeekableSource, length: number): Promise<void> {
  for (let left = length; left > 0;) {
    const bytes = await input.next()
    if (!bytes) throw new DecodeError(TRUNCATED)
    if (bytes.length > left) input.unread(bytes.subarray(left))
    left -= bytes.length
  }
}
