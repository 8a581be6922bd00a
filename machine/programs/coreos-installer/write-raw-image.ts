import { open } from 'node:fs/promises'
import { READ_BYTES } from '../../../base/bytes/index.js'
import { withClockHeld, MIB, type Clock } from '../../../base/runtime/index.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import type { Pacer } from './pacer.js'

/** Bytes of one read. Handing a read to a thread costs as much as the copy of a quarter of a MiB. */
const RAW_READ_BYTES = 2 * MIB
/** Bytes of one write; as many as of a compressed image, so that the disk's writes are the same. */
const RAW_WRITE_BYTES = MIB / 2

export interface RawWriting {
  /** File of an image that is not compressed. */
  path: string
  device: SimulatedDisk
  /** Offset from which bytes are written. */
  from: number
  clock: Clock
  pacer: Pacer
  /** Called with the number of bytes that coreos-installer would have read, as often as it reads. */
  read: (position: number) => void
}

/**
 * Copies an image that needs no decompression to the disk. Two buffers are filled in turn, one while the other is written:
 * a new one for each read would be garbage as large as the image, and its collection takes longer than the copy.
 */
export async function writeRawImage({ path, device, from, clock, pacer, read }: RawWriting): Promise<void> {
  const file = await withClockHeld(clock, `opening ${path}`, () => open(path))
  const fill = (buffer: Buffer, offset: number): Promise<Buffer> =>
    withClockHeld(clock, `reading ${path}`, async () => {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, offset)
      return buffer.subarray(0, bytesRead)
    })
  const write = async (piece: Buffer, offset: number): Promise<void> => {
    for (let at = 0; at < piece.length; at += RAW_WRITE_BYTES) {
      const bytes = piece.subarray(at, at + RAW_WRITE_BYTES)
      for (let seen = 0; seen < bytes.length; seen += READ_BYTES)
        read(offset + at + Math.min(seen + READ_BYTES, bytes.length))
      await device.write(offset + at, bytes)
      await pacer.written(offset + at + bytes.length)
    }
  }
  try {
    let buffer = Buffer.allocUnsafe(RAW_READ_BYTES)
    let other = Buffer.allocUnsafe(RAW_READ_BYTES)
    let offset = from
    for (let piece = await fill(buffer, offset); piece.length > 0;) {
      const next = fill(other, offset + piece.length)
      // Awaited after the write, which may fail first.
      next.catch(() => {})
      await write(piece, offset)
      offset += piece.length
      piece = await next
      ;[buffer, other] = [other, buffer]
    }
    // The real installer reads the end once more (recorded).
    read(offset)
  } finally {
    await withClockHeld(clock, `closing ${path}`, () => file.close())
  }
}
