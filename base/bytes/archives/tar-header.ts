import { FormatError } from '../format-error.js'

/** Header block of a tar archive, before long names are applied. */
export interface TarHeader {
  name: string
  /** POSIX type flag: `0` a file, `1` a hard link, `2` a symbolic link, `5` a directory; `x`, `g`, `L`, `K` are about the next entry. */
  type: string
  /** Bytes of the content that follows. */
  size: number
  linkTarget: string
  /** Permission bits. */
  mode: number
  uid: number
  gid: number
}

export const TAR_BLOCK_BYTES = 512

const CHECKSUM = { at: 148, width: 8 }

/**
 * Reads a header block: V7, ustar or GNU.
 *
 * @throws FormatError for a block that is not a tar header
 */
export function tarHeader(block: Buffer): TarHeader {
  if (!hasChecksum(block))
    throw new FormatError('this is not a tar archive, or a damaged one: a header has another checksum')
  const type = block[156] === 0 ? '0' : String.fromCharCode(block[156]!)
  const isUstar = block.toString('latin1', 257, 263) === 'ustar\0'
  const prefix = isUstar ? textAt(block, 345, 155) : ''
  const name = textAt(block, 0, 100)
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    type,
    size: readTarSize(block),
    linkTarget: textAt(block, 157, 100),
    // GNU tar writes numbers that are too large for octal digits in binary; such owners become root.
    mode: (octalAt(block, 100, 8) ?? 0) & 0o7777,
    uid: octalAt(block, 108, 8) ?? 0,
    gid: octalAt(block, 116, 8) ?? 0,
  }
}

/** Old programs summed signed bytes. */
function hasChecksum(block: Buffer): boolean {
  const stored = octalAt(block, CHECKSUM.at, CHECKSUM.width)
  let unsigned = 0
  let signed = 0
  for (let at = 0; at < TAR_BLOCK_BYTES; at++) {
    const byte = at >= CHECKSUM.at && at < CHECKSUM.at + CHECKSUM.width ? 0x20 : block[at]!
    unsigned += byte
    signed += byte > 127 ? byte - 256 : byte
  }
  return stored === unsigned || stored === signed
}

function readTarSize(block: Buffer): number {
  // GNU tar writes sizes from 8 GiB on as a binary number, marked by its first bit.
  if ((block[124]! & 0x80) === 0) {
    const size = octalAt(block, 124, 12)
    if (size !== undefined) return size
    throw new FormatError('the size of an entry of a tar archive is no number')
  }
  const size = BigInt(`0x${block.toString('hex', 125, 136)}`)
  if (block[124] === 0x80 && size <= Number.MAX_SAFE_INTEGER) return Number(size)
  throw new FormatError('the size of an entry of a tar archive is beyond all disks')
}

/** Undefined for what is no octal number; an empty field is 0. */
function octalAt(block: Buffer, at: number, width: number): number | undefined {
  const digits = textAt(block, at, width).trim()
  return /^[0-7]*$/.test(digits) ? parseInt(digits || '0', 8) : undefined
}

function textAt(block: Buffer, at: number, width: number): string {
  const field = block.subarray(at, at + width)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? width : end)
}

/**
 * Records of a PAX header, `LENGTH KEY=VALUE\n` each (POSIX.1-2001).
 *
 * @throws FormatError
 */
export function paxRecords(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>()
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const digits = bytes.toString('latin1', at, space < 0 ? at : space)
    const end = at + Number(digits)
    const equals = bytes.indexOf(0x3d, space)
    if (!/^[1-9]\d{0,8}$/.test(digits) || end > bytes.length || bytes[end - 1] !== 0x0a || equals < 0 || equals >= end)
      throw new FormatError('a PAX header of a tar archive is damaged')
    records.set(bytes.toString('utf8', space + 1, equals), bytes.toString('utf8', equals + 1, end - 1))
    at = end
  }
  return records
}
