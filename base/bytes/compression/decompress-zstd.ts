import { Decompress } from 'fzstd'
import xxhash, { type XXHash } from 'xxhash-wasm'
import { withClockHeld, type Clock } from '../../runtime/index.js'
import { MAX_ZSTD_WINDOW, MAX_ZSTD_HEADER_BYTES, ZSTD_TOO_MUCH_MEMORY, zstdFrame } from './zstd-frame.js'
import { ByteReader } from '../byte-reader.js'
import { memoryStream } from '../byte-stream.js'
import { DecodeError } from './decode-error.js'
import { LiteralsCheck, MAX_BLOCK_BYTES, ZSTD_CORRUPT } from './zstd-literals.js'
import { loadZstd } from './zstd-writer.js'

const ZSTD_FRAME_MAGIC = 0xfd2fb528
/** Sixteen magic numbers announce a frame to skip (RFC 8878, 3.1.2). */
const SKIPPABLE = 0x184d2a50
const TRUNCATED = 'premature EOF reading zstd frame'
const BAD_CHECKSUM = "Restored data doesn't match checksum"
const NO_ROOM = 'Destination buffer is too small'

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
export async function* decompressZstd(input: ByteReader, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  for (let start = await input.peek(4); isZstdFrame(start); start = await input.peek(4)) {
    if (start.readUInt32LE() !== ZSTD_FRAME_MAGIC) {
      await skipFrame(input)
      continue
    }
    const small = await smallFrame(input, clock)
    if (small === undefined) yield* frame(input, clock)
    else if ('contents' in small) yield small.contents
    else yield* frame(new ByteReader(memoryStream(small.cutShort)), clock)
  }
}

/** Contents of frames that are decompressed at once, by WebAssembly: a fifth of the time of the decoder in JavaScript. */
const SMALL = { least: 256 * 1024, most: 8 * 1024 * 1024 }

/**
 * The contents of the next frame where it says that they are small. Undefined for a large or damaged one, which is left in
 * the reader: the other decoder gives the bytes before the damage. One that is cut short is taken out of the reader, since
 * progress shows how often the end of a file is read.
 */
async function smallFrame(
  input: ByteReader,
  clock: Clock,
): Promise<{ contents: Uint8Array } | { cutShort: Buffer } | undefined> {
  const header = zstdFrame(await input.peek(MAX_ZSTD_HEADER_BYTES))
  const size = header?.contentSize ?? 0
  if (
    !header ||
    header.refusal !== undefined ||
    size < SMALL.least ||
    size > SMALL.most ||
    header.window > MAX_ZSTD_WINDOW
  )
    return undefined
  const parts: Buffer[] = [await input.exactly(header.headerLength)]
  const cutAfter = async (left: number) => ({ cutShort: Buffer.concat([...parts, await input.exactly(left)]) })
  let last = false
  for (let length = 0; !last && length <= size;) {
    const block = await input.peek(3)
    if (block.length < 3) return cutAfter(block.length)
    const about = block.readUIntLE(0, 3)
    if (refusalOf(about, header.window) !== undefined) break
    last = (about & 1) === 1
    const stored = storedLength(about)
    const whole = 3 + stored + (last ? header.checksumLength : 0)
    const { length: available } = await input.peek(whole)
    if (available < whole) return cutAfter(available)
    parts.push(await input.exactly(whole))
    length += stored
  }
  const all = Buffer.concat(parts)
  try {
    if (last) {
      const contents = (await withClockHeld(clock, 'loading zstd', loadZstd)).decompress(all, size)
      if (contents.length === size) return { contents }
    }
  } catch {
    // The other decoder finds the damage again.
  }
  input.unread(all)
  return undefined
}

const blockType = (header: number): number => (header >> 1) & 3
const RUN_LENGTH = 1
const COMPRESSED = 2
const RESERVED = 3

/** Bytes of a block by its header. A run-length block stores one byte; its size is how often that byte is repeated. */
const storedLength = (header: number): number => (blockType(header) === RUN_LENGTH ? 1 : header >> 3)

/** Sentence by which zstd refuses a block for its header, before it reads the length that a damaged one claims. */
function refusalOf(header: number, window: number): string | undefined {
  const type = blockType(header)
  if (type === RESERVED) return ZSTD_CORRUPT
  if (header >> 3 <= Math.min(window, MAX_BLOCK_BYTES)) return undefined
  return type === RUN_LENGTH ? NO_ROOM : ZSTD_CORRUPT
}

let loadedHash: ReturnType<typeof xxhash> | undefined

/** The hash of a frame's contents, of which the frame has the lower four bytes at its end. */
async function contentHash(clock: Clock): Promise<XXHash<bigint>> {
  const { create64 } = await withClockHeld(clock, 'loading xxhash', () => (loadedHash ??= xxhash()))
  return create64()
}

async function* frame(input: ByteReader, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const output: Uint8Array[] = []
  const decoder = new Decompress((bytes) => {
    if (bytes.length > 0) output.push(bytes)
  })
  const feed = (bytes: Uint8Array, last: boolean) => {
    try {
      decoder.push(bytes, last)
    } catch (cause) {
      // On some damage the decoder writes past its own buffer: that error of JavaScript says nothing to a user.
      const isOfDecoder = cause instanceof RangeError || cause instanceof TypeError
      throw new DecodeError(ZSTD_CORRUPT, { cause: isOfDecoder ? undefined : cause })
    }
    return output.splice(0)
  }
  const header = zstdFrame(await input.peek(MAX_ZSTD_HEADER_BYTES))
  if (!header) throw new DecodeError(TRUNCATED)
  if (header.refusal !== undefined) throw new DecodeError(header.refusal)
  if (header.window > MAX_ZSTD_WINDOW) throw new DecodeError(ZSTD_TOO_MUCH_MEMORY)
  const { headerLength, checksumLength, window, contentSize } = header
  // The decoder verifies neither checksum nor length.
  const hash = checksumLength > 0 ? await contentHash(clock) : undefined
  yield* feed(await takeBytes(input, headerLength), false)
  let length = 0
  const literals = new LiteralsCheck()
  for (let last = false; !last;) {
    const about = (await need(input, 3)).readUIntLE(0, 3)
    const refusal = refusalOf(about, window)
    if (refusal !== undefined) throw new DecodeError(refusal)
    last = (about & 1) === 1
    const block = await takeBytes(input, 3 + storedLength(about))
    const damage = blockType(about) === COMPRESSED ? literals.refusalOf(block.subarray(3), window) : undefined
    if (damage !== undefined) throw new DecodeError(damage)
    for (const part of feed(block, last && !hash)) {
      length += part.length
      hash?.update(part)
      yield part
    }
  }
  if (contentSize !== undefined && contentSize !== length) throw new DecodeError(ZSTD_CORRUPT)
  if (!hash) return
  // The checksum comes after the contents, so that these are written although a file ends before it.
  const checksum = await takeBytes(input, checksumLength)
  if (Number(hash.digest() & 0xffffffffn) !== checksum.readUInt32LE()) throw new DecodeError(BAD_CHECKSUM)
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
