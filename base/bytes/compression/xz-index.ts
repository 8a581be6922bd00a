import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { withClockHeld, type Clock } from '../../runtime/index.js'

/** Length of a stream's header, and of its footer (xz file format 1.1). */
const FRAME = 12

/** A part of an .xz file that can be decompressed by itself. Bytes. */
export interface XzBlock {
  offset: number
  length: number
  outputOffset: number
  outputLength: number
}

export interface XzIndex {
  /** Decompressed bytes in all. */
  size: number
  /** The stream's header, which every block needs in front of it. */
  header: Buffer
  blocks: XzBlock[]
}

/**
 * The index at the end of an .xz file; undefined unless the file is exactly one xz stream from its first byte to its
 * last. So a download that was cut short is noticed without decompressing it.
 */
export const readXzIndex = (path: string, clock: Clock): Promise<XzIndex | undefined> =>
  withClockHeld(clock, `reading the index of ${path}`, async () => {
    const file = await open(path, 'r')
    try {
      const about = await file.stat()
      // A pipe can be read once, and only from its start.
      if (!about.isFile()) return undefined
      const { size } = about
      const bytesAt = async (offset: number, length: number): Promise<Buffer | undefined> => {
        if (offset < 0) return undefined
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
        return bytesRead === length ? buffer : undefined
      }
      const header = await bytesAt(0, FRAME)
      const footer = await bytesAt(size - FRAME, FRAME)
      if (!header || footer?.toString('latin1', 10) !== 'YZ') return undefined
      if (crc32(footer.subarray(4, 10)) !== footer.readUInt32LE(0)) return undefined
      const length = (footer.readUInt32LE(4) + 1) * 4
      const index = await bytesAt(size - FRAME - length, length)
      if (!index || crc32(index.subarray(0, -4)) !== index.readUInt32LE(length - 4)) return undefined
      const blocks = parseRecords(index)
      const last = blocks.at(-1)
      if (!last || last.offset + last.length + length + FRAME !== size) return undefined
      return { size: last.outputOffset + last.outputLength, header, blocks }
    } finally {
      await file.close()
    }
  })

function parseRecords(index: Buffer): XzBlock[] {
  let at = 1
  const number = () => {
    let value = 0
    for (let shift = 0; shift < 63; shift += 7) {
      const byte = index[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if ((byte & 0x80) === 0) break
    }
    return value
  }
  const blocks: XzBlock[] = []
  let offset = FRAME
  let outputOffset = 0
  for (let left = number(); left > 0 && at < index.length; left--) {
    const unpadded = number()
    const outputLength = number()
    const length = Math.ceil(unpadded / 4) * 4
    blocks.push({ offset, length, outputOffset, outputLength })
    offset += length
    outputOffset += outputLength
  }
  return blocks
}

const LZMA2 = 0x21
/** A block's header is this long at most (xz file format 1.1, 3.1.1). */
const MAX_XZ_HEADER_BYTES = 1024

/** The largest dictionary that a block of the file asks for, in bytes; Infinity when one uses other filters than LZMA2. */
export const largestDictionary = (path: string, { blocks }: XzIndex, clock: Clock): Promise<number> =>
  withClockHeld(clock, `reading the blocks of ${path}`, async () => {
    const file = await open(path, 'r')
    try {
      let largest = 0
      const header = Buffer.alloc(MAX_XZ_HEADER_BYTES)
      for (const { offset } of blocks) {
        const { bytesRead } = await file.read(header, 0, MAX_XZ_HEADER_BYTES, offset)
        largest = Math.max(largest, dictionaryOf(header.subarray(0, bytesRead)))
      }
      return largest
    } finally {
      await file.close()
    }
  })

/** Dictionary size in a block's header (xz file format 1.1, 3.1 and 5.3.1). */
function dictionaryOf(header: Buffer): number {
  const flags = header[1] ?? 0
  let at = 2
  const skipNumber = () => {
    while ((header[at++] ?? 0) & 0x80);
  }
  for (const present of [0x40, 0x80]) if (flags & present) skipNumber()
  const bits = header[at + 2]
  if ((flags & 3) !== 0 || header[at] !== LZMA2 || header[at + 1] !== 1 || bits === undefined || bits > 39)
    return Infinity
  return (2 | (bits & 1)) * 2 ** (Math.floor(bits / 2) + 11)
}
