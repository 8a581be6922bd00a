import { crc32 } from 'node:zlib'

const CHUNK = 65_536
const FLAGS = Buffer.from([0x00, 0x01])
/** One filter, LZMA2 with a dictionary of 8 MiB. */
const BLOCK_HEADER = Buffer.from([0x02, 0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00])

const sumOf = (bytes: Buffer): Buffer => little(crc32(bytes))

function little(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** A number in bytes of seven bits. */
const variable = (value: number): number[] =>
  value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...variable(Math.floor(value / 0x80))]

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])

/**
 * An .xz of bytes that do not compress, as xz makes it: LZMA2 stores them. Made without looking for matches, which takes
 * seconds. The format: "The .xz File Format" 1.2.1, and lzma2_encoder.c of liblzma for the chunks.
 */
export function storedXz(bytes: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += CHUNK) {
    const chunk = bytes.subarray(at, at + CHUNK)
    const size = chunk.length - 1
    chunks.push(Buffer.from([at === 0 ? 0x01 : 0x02, size >> 8, size & 0xff]), chunk)
  }
  const block = Buffer.concat([BLOCK_HEADER, sumOf(BLOCK_HEADER), ...chunks, Buffer.from([0x00])])
  const unpadded = block.length + 4
  const records = padded(Buffer.from([0x00, 0x01, ...variable(unpadded), ...variable(bytes.length)]))
  const index = Buffer.concat([records, sumOf(records)])
  const footer = Buffer.concat([little(index.length / 4 - 1), FLAGS])
  return Buffer.concat([
    Buffer.from('fd377a585a00', 'hex'),
    FLAGS,
    sumOf(FLAGS),
    padded(block),
    sumOf(bytes),
    index,
    sumOf(footer),
    footer,
    Buffer.from('YZ'),
  ])
}
