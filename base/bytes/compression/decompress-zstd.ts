import { Decompress } from 'fzstd'
import { MAX_ZSTD_WINDOW, MAX_ZSTD_HEADER_BYTES, ZSTD_TOO_MUCH_MEMORY, zstdFrame } from './zstd-frame.js'
import type { ByteReader } from '../byte-reader.js'
import { DecodeError } from './decode-error.js'
import { loadZstd } from './zstd-writer.js'

const ZSTD_FRAME_MAGIC = 0xfd2fb528
/** Sixteen magic numbers announce a frame to skip (RFC 8878, 3.1.2). */
const SKIPPABLE = 0x184d2a50
const TRUNCATED = 'premature EOF reading zstd frame'
const CORRUPT = 'Data corruption detected'

export function isZstdFrame(start: Uint8Array): boolean {
  if (start.length < 4) return false
  const magic = Buffer.from(start.subarray(0, 4)).readUInt32LE()
  return magic === ZSTD_FRAME_MAGIC || (magic & 0xfffffff0) >>> 0 === SKIPPABLE
}

/**
 * The contents of the frames that follow each other; the reader is left at the first byte that begins none. Frames are
 * walked block by block here, since the decoder does not report where it stopped; it gets one block at a time, 128 KiB
 * of output at most.
 */
export async function* decompressZstd(input: ByteReader): AsyncGenerator<Uint8Array, void, undefined> {
  for (let start = await input.peek(4); isZstdFrame(start); start = await input.peek(4)) {
    if (start.readUInt32LE() !== ZSTD_FRAME_MAGIC) {
      await skipFrame(input)
      continue
    }
    const bytes = await small(input)
    if (bytes) yield bytes
    else yield* frame(input)
  }
}

/** Contents of frames that are decompressed at once, by WebAssembly: a fifth of the time of the decoder in JavaScript. */
const SMALL = { least: 256 * 1024, most: 8 * 1024 * 1024 }

/**
 * The contents of the next frame where it says that they are small. Undefined for a large or damaged one, which is left in
 * the reader: the other decoder gives the bytes before the damage.
 */
async function small(input: ByteReader): Promise<Uint8Array | undefined> {
  const header = zstdFrame(await input.peek(MAX_ZSTD_HEADER_BYTES))
  const size = header?.contentSize ?? 0
  if (!header || size < SMALL.least || size > SMALL.most || header.window > MAX_ZSTD_WINDOW) return undefined
  const parts: Buffer[] = [await input.exactly(header.headerLength)]
  let last = false
  for (let length = 0; !last && length <= size;) {
    const block = await input.peek(3)
    if (block.length < 3) break
    const about = block.readUIntLE(0, 3)
    last = (about & 1) === 1
    const stored = storedLength(about)
    const whole = 3 + stored + (last ? header.checksumLength : 0)
    if ((await input.peek(whole)).length < whole) {
      last = false
      break
    }
    parts.push(await input.exactly(whole))
    length += stored
  }
  const all = Buffer.concat(parts)
  try {
    if (last) {
      const contents = (await loadZstd()).decompress(all, size)
      if (contents.length === size) return contents
    }
  } catch {
    // The other decoder finds the damage again.
  }
  input.unread(all)
  return undefined
}

/** Bytes of a block by its header. A run-length block stores one byte; its size is how often that byte is repeated. */
const storedLength = (header: number): number => (((header >> 1) & 3) === 1 ? 1 : header >> 3)

async function* frame(input: ByteReader): AsyncGenerator<Uint8Array, void, undefined> {
  const output: Uint8Array[] = []
  const decoder = new Decompress((bytes) => {
    if (bytes.length > 0) output.push(bytes)
  })
  const feed = (bytes: Uint8Array, last: boolean) => {
    try {
      decoder.push(bytes, last)
    } catch (cause) {
      // On some damage the decoder writes past its own buffer: that error of JavaScript says nothing to a user.
      throw new DecodeError(CORRUPT, cause instanceof RangeError || cause instanceof TypeError ? {} : { cause })
    }
    return output.splice(0)
  }
  const header = zstdFrame(await input.peek(MAX_ZSTD_HEADER_BYTES))
  if (!header) throw new DecodeError(TRUNCATED)
  if (header.window > MAX_ZSTD_WINDOW) throw new DecodeError(ZSTD_TOO_MUCH_MEMORY)
  yield* feed(await takeBytes(input, header.headerLength), false)
  let length = 0
  for (let last = false; !last;) {
    const block = (await need(input, 3)).readUIntLE(0, 3)
    last = (block & 1) === 1
    const bytes = await takeBytes(input, 3 + storedLength(block) + (last ? header.checksumLength : 0))
    for (const part of feed(bytes, last)) {
      length += part.length
      yield part
    }
  }
  // The decoder does not verify the checksum; a wrong length is detected here.
  if (header.contentSize !== undefined && header.contentSize !== length) throw new DecodeError(CORRUPT)
}

async function need(input: ByteReader, length: number): Promise<Buffer> {
  const bytes = await input.peek(length)
  if (bytes.length < length) throw new DecodeError(TRUNCATED)
  return bytes
}

async function takeBytes(input: ByteReader, length: number): Promise<Buffer> {
  await need(input, length)
  return input.exactly(length)
}

/** Skips without buffering: such a frame may hold 4 GiB. */
async function skipFrame(input: ByteReader): Promise<void> {
  const length = 8 + (await need(input, 8)).readUInt32LE(4)
  await input.skip(length, TRUNCATED)
}
