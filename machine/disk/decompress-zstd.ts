import { Decompress } from 'fzstd'
import type { PeekableSource } from './byte-source.js'
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
    else await take(input, 8 + (await need(input, 8)).readUInt32LE(4))
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
  const descriptor = (await need(input, 5))[4]!
  const singleSegment = (descriptor & 0x20) !== 0
  const contentSize = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!
  const sizeAt = 5 + (singleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!
  const header = sizeAt + contentSize
  const checksum = (descriptor & 4) !== 0 ? 4 : 0
  const head = await take(input, header)
  yield* feed(head, false)
  let length = 0
  for (let last = false; !last;) {
    const block = (await need(input, 3)).readUIntLE(0, 3)
    last = (block & 1) === 1
    // A run-length block stores one byte, whatever its size says.
    const stored = ((block >> 1) & 3) === 1 ? 1 : block >> 3
    const bytes = await take(input, 3 + stored + (last ? checksum : 0))
    for (const part of feed(bytes, last)) {
      length += part.length
      yield part
    }
  }
  // The decoder does not look at the checksum; the length it does give away.
  const announced = frameContentSize(head.subarray(sizeAt))
  if (announced !== undefined && announced !== length) throw new DecodeError(CORRUPT)
}

/** Bytes that a frame says it holds (RFC 8878, 3.1.1.1.4). */
function frameContentSize(field: Buffer): number | undefined {
  switch (field.length) {
    case 1:
      return field[0]
    case 2:
      return field.readUInt16LE() + 256
    case 4:
      return field.readUInt32LE()
    case 8:
      return Number(field.readBigUInt64LE())
    default:
      return undefined
  }
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
