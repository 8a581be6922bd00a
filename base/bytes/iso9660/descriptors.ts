import { both16, both32, padWithSpaces, ISO_SECTOR_BYTES, ucs2 } from './numbers.js'
import type { Naming } from './iso-records.js'

export interface VolumeOptions {
  naming: Naming
  label: string
  /** Milliseconds since the epoch. */
  at: number
  /** Blocks of the whole volume. */
  blocks: number
  /** The root directory's own record. */
  root: Buffer
  /** Bytes of a path table, and the blocks of both. */
  table: { size: number; little: number; big: number }
}

const STANDARD = Buffer.from('CD001')

/** The primary volume descriptor, or Joliet's (ECMA-119 8.4, 8.5). */
export function volumeDescriptor({ naming, label, at, blocks, root, table }: VolumeOptions): Buffer {
  const joliet = naming === 'joliet'
  const text = (value: string, length: number): Buffer =>
    joliet
      ? Buffer.concat([ucs2(value.padEnd(length / 2, ' ')), Buffer.alloc(length % 2)]).subarray(0, length)
      : padWithSpaces(Buffer.from(value), length)
  const little = Buffer.alloc(8)
  little.writeUInt32LE(table.little)
  const big = Buffer.alloc(8)
  big.writeUInt32BE(table.big)
  return Buffer.concat(
    [
      Buffer.from([joliet ? 2 : 1]),
      STANDARD,
      Buffer.from([1, 0]),
      text('', 32),
      text(label, 32),
      Buffer.alloc(8),
      both32(blocks),
      // Joliet at level 3: any character of UCS-2.
      Buffer.concat([Buffer.from(joliet ? '%/E' : '')], 32),
      both16(1),
      both16(1),
      both16(ISO_SECTOR_BYTES),
      both32(table.size),
      little,
      big,
      root,
      text('', 128),
      text('', 128),
      text('', 128),
      text('', 128),
      text('', 37),
      text('', 37),
      text('', 37),
      date(at),
      date(at),
      date(null),
      date(at),
      Buffer.from([1]),
    ],
    ISO_SECTOR_BYTES,
  )
}

export const TERMINATOR = Buffer.concat([Buffer.from([255]), STANDARD, Buffer.from([1])], ISO_SECTOR_BYTES)

/** ECMA-119 8.4.26.1 */
function date(at: number | null): Buffer {
  const text = at === null ? '0'.repeat(16) : `${new Date(at).toISOString().replaceAll(/\D/g, '').slice(0, 14)}00`
  return Buffer.from(`${text}\0`, 'latin1')
}

/** All directories, in the order of their depth and their parents (ECMA-119 9.4). */
export function pathTable(
  folders: readonly { identifier: Buffer; sector: number; parent: number }[],
  order: 'little' | 'big',
): Buffer {
  return Buffer.concat(
    folders.map(({ identifier, sector, parent }) => {
      const head = Buffer.alloc(8)
      head[0] = identifier.length
      if (order === 'little') {
        head.writeUInt32LE(sector, 2)
        head.writeUInt16LE(parent, 6)
      } else {
        head.writeUInt32BE(sector, 2)
        head.writeUInt16BE(parent, 6)
      }
      return Buffer.concat([head, identifier, Buffer.alloc(identifier.length % 2)])
    }),
  )
}
