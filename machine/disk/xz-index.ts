import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { held, type Clock } from '../../runtime/index.js'

/** Of the xz file format 1.1: stream header and footer are as long. */
const FOOTER = 12

/**
 * The decompressed size of an .xz file, from the index at its end; undefined unless it ends exactly like one xz stream.
 * So a download that was cut short is noticed without decompressing it.
 */
export const xzSize = (path: string, clock: Clock): Promise<number | undefined> =>
  held(clock, `reading the index of ${path}`, async () => {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const footer = await bytesAt(size - FOOTER, FOOTER)
      if (footer.toString('latin1', 10) !== 'YZ' || crc32(footer.subarray(4, 10)) !== footer.readUInt32LE(0))
        return undefined
      const length = (footer.readUInt32LE(4) + 1) * 4
      const index = await bytesAt(size - FOOTER - length, length)
      if (index.length < 8 || crc32(index.subarray(0, -4)) !== index.readUInt32LE(index.length - 4)) return undefined
      return totalSize(index)
    } finally {
      await file.close()
    }

    async function bytesAt(offset: number, length: number): Promise<Buffer> {
      if (offset < 0) return Buffer.alloc(FOOTER)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
      return bytesRead === length ? buffer : Buffer.alloc(FOOTER)
    }
  })

function totalSize(index: Buffer): number | undefined {
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
  if (index[0] !== 0) return undefined
  let total = 0
  for (let left = number(); left > 0; left--) {
    number()
    total += number()
  }
  return total
}
