import { crc32, gzipSync } from 'node:zlib'
import { changeField, damage, type Chance } from './chance.js'

const MIB = 2 ** 20

/** Length of the xz stream's header, and of its footer. */
const XZ_FRAME = 12

/** Damages an xz stream: its header, the block's (dictionary sizes, filters), data, index, footer; or makes a bomb. */
export function mutateXz(xz: Buffer, by: Chance): Buffer {
  const index = xz.length - XZ_FRAME - (xz.readUInt32LE(xz.length - 8) + 1) * 4
  switch (by.below(9)) {
    case 0:
      xz[6 + by.below(2)] = by.below(256)
      xz.writeUInt32LE(crc32(xz.subarray(6, 8)), 8)
      return xz
    case 1:
    case 2: {
      // Size of the header, flags, filter, its properties: the dictionary may be 4 GiB.
      const header = (xz[XZ_FRAME]! + 1) * 4
      xz[XZ_FRAME + 1 + by.below(header - 5)] = by.pick([0, 1, 2, 28, 36, 37, 39, 40, 41, 0x21, 0x80, 0xff])
      const crc = XZ_FRAME + header - 4
      xz.writeUInt32LE(crc32(xz.subarray(XZ_FRAME, crc)), crc)
      return xz
    }
    case 3:
    case 4: {
      // Records, and how many there are.
      for (let times = 1 + by.below(3); times > 0; times--)
        xz[index + 1 + by.below(xz.length - XZ_FRAME - index - 5)] = by.pick([0, 1, 0x7f, 0x80, 0xff, by.below(256)])
      const crc = xz.length - XZ_FRAME - 4
      xz.writeUInt32LE(crc32(xz.subarray(index, crc)), crc)
      return xz
    }
    case 5: {
      const footer = xz.length - XZ_FRAME
      changeField(xz, { at: footer + 4, width: by.pick([1, 2, 4]) }, by)
      xz.writeUInt32LE(crc32(xz.subarray(footer + 4, footer + 10)), footer)
      return xz
    }
    case 6:
      return Buffer.concat([xz, by.pick([xz, by.bytes(64), Buffer.alloc(4096)])])
    case 7:
      return xzBomb(xz, index, 1 + by.below(60))
    default:
      return damage(xz, by)
  }
}

/** The first block again and again, in a stream that is valid. */
function xzBomb(xz: Buffer, index: number, times: number): Buffer {
  const records = xz.subarray(index + 2)
  let at = 0
  const number = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      value += (records[at]! & 0x7f) * 2 ** shift
      if ((records[at++]! & 0x80) === 0) return value
    }
  }
  const length = Math.ceil(number() / 4) * 4
  number()
  const block = xz.subarray(XZ_FRAME, XZ_FRAME + length)
  const body = Buffer.concat([Buffer.from([0, times]), ...Array.from({ length: times }, () => records.subarray(0, at))])
  const padded = Buffer.concat([body, Buffer.alloc(-body.length & 3)])
  const footer = Buffer.alloc(XZ_FRAME)
  footer.writeUInt32LE((padded.length + 4) / 4 - 1, 4)
  xz.copy(footer, 8, 6, 8)
  footer.write('YZ', 10)
  footer.writeUInt32LE(crc32(footer.subarray(4, 10)), 0)
  const crc = Buffer.alloc(4)
  crc.writeUInt32LE(crc32(padded))
  return Buffer.concat([xz.subarray(0, XZ_FRAME), ...Array.from({ length: times }, () => block), padded, crc, footer])
}

/** Flags of RFC 1952: header checksum, extra field, name, comment. */
const GZIP_FLAGS = [2, 4, 8, 16, 0x1e, 0xe0, 0xff]
let gzipBomb: Buffer | undefined

/** Damages a gzip member: its header, data and trailer; or makes a bomb. */
export function mutateGzip(gz: Buffer, by: Chance): Buffer {
  switch (by.below(7)) {
    case 0:
      gz[3] = by.pick(GZIP_FLAGS)
      if (by.below(2) === 0) gz.fill(by.pick([1, 0xff]), 10, 10 + by.below(gz.length - 10))
      return gz
    case 1: {
      const name = Buffer.alloc(by.pick([0, 10, 70_000, 3 * MIB]), 'n')
      gz[3] = 8
      return Buffer.concat([gz.subarray(0, 10), name, gz.subarray(10)])
    }
    case 2:
      changeField(gz, { at: gz.length - by.pick([8, 4]), width: 4 }, by)
      return gz
    case 3:
      return Buffer.concat([gz, by.pick([gz, by.bytes(64), Buffer.alloc(4096)])])
    case 4:
      return (gzipBomb ??= gzipSync(Buffer.alloc(96 * MIB), { level: 6 }))
    case 5:
      return gz.subarray(0, gz.length - by.below(200))
    default:
      return damage(gz, by)
  }
}

const ZSTD_MAGIC = Buffer.from('28b52ffd', 'hex')

/** Damages zstd frames: their headers (windows, sizes, dictionaries), blocks; skippable frames; or makes a bomb. */
export function mutateZstd(zst: Buffer, by: Chance): Buffer {
  switch (by.below(9)) {
    case 0:
    case 1:
      zst[4 + by.below(2)] = by.pick([0, 0x20, 0x40, 0x80, 0xc0, 0xe0, 0xf8, 0xff, by.below(256)])
      return zst
    case 2:
      for (let times = 1 + by.below(4); times > 0; times--)
        zst[5 + by.below(Math.min(40, zst.length - 5))] = by.below(256)
      return zst
    case 3: {
      // Windows of up to 3.75 TiB, contents of up to 2^64 bytes.
      const window = by.pick([0xff, 0xf8, 0xa0, 0x90, 0x88])
      const header = by.pick([
        Buffer.from([0x00, window]),
        Buffer.from([0xc0, window, ...by.bytes(8)]),
        Buffer.from([0xe0, 0, 0, 0, 0, 1, 0, 0, 0]),
        Buffer.from([0x03, window, ...by.bytes(4)]),
      ])
      return Buffer.concat([ZSTD_MAGIC, header, rle(0, 20, true)])
    }
    case 4:
      return Buffer.concat([
        ZSTD_MAGIC,
        Buffer.from([0x00, 0x58]),
        rle(by.below(256), by.pick([100, 3000]), by.below(2) === 0),
      ])
    case 5: {
      const skipped = Buffer.alloc(8 + by.pick([0, 100, 70_000]))
      skipped.writeUInt32LE(0x184d2a50 + by.below(16))
      skipped.writeUInt32LE(by.pick([skipped.length - 8, 0, 0x7fffffff, 0xffffffff]), 4)
      return Buffer.concat([...Array.from({ length: 1 + by.below(200) }, () => skipped), zst])
    }
    case 6:
      return Buffer.concat([zst, by.pick([zst, by.bytes(64), Buffer.alloc(4096)])])
    case 7:
      return zst.subarray(0, by.below(zst.length))
    default:
      return damage(zst, by)
  }
}

/** Blocks of 128 KiB that are one byte each. */
function rle(byte: number, blocks: number, ends: boolean): Buffer {
  const out = Buffer.alloc(blocks * 4, byte)
  for (let block = 0; block < blocks; block++)
    out.writeUIntLE((0x20000 << 3) | 2 | (ends && block === blocks - 1 ? 1 : 0), block * 4, 3)
  return out
}
