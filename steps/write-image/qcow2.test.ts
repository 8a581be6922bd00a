import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { qcow2Image, type Qcow2Options } from '../../machine/making/qcow2-image.js'
import { isQcow2, openQcow2 } from './qcow2.js'

const file = (bytes: Buffer) => ({
  size: bytes.length,
  read: (offset: number, length: number) => Promise.resolve(bytes.subarray(offset, offset + length)),
})

/** Text, noise and holes, so that some clusters are packed, some are not and some are left out. */
function contents(size: number, seed: number): Buffer {
  const bytes = Buffer.alloc(size)
  let state = seed + 1
  for (let at = 0; at < size; at += 4096) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    const piece = bytes.subarray(at, Math.min(size, at + 4096))
    if (state % 3 === 0) piece.fill('text that packs well. ')
    else if (state % 3 === 1)
      for (let n = 0; n < piece.length; n++) {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0
        piece[n] = state >>> 24
      }
  }
  return bytes
}

test.each<[Qcow2Options]>([
  [{ version: 2 }],
  [{ version: 3 }],
  [{ version: 2, compressed: true }],
  [{ version: 3, compressed: true }],
  [{ clusterBits: 9 }],
  [{ clusterBits: 9, compressed: true }],
  [{ clusterBits: 12, compressed: true }],
  [{ clusterBits: 21 }],
])('an image with %j reads as its source', async (options) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 512, max: 300_000 }), fc.nat(1000), async (size, seed) => {
      const bytes = contents(size, seed)
      const image = qcow2Image(bytes, options)
      expect(isQcow2(image)).toBe(true)
      const disk = await openQcow2(file(image))
      expect(disk.size).toBe(size)
      expect(bytes.equals(await disk.read(0, size + 10))).toBe(true)
      const from = seed % size
      expect(bytes.subarray(from, from + 5000).equals(await disk.read(from, 5000))).toBe(true)
      const zeros = await disk.zeros(from)
      expect(bytes.subarray(from, from + zeros).every((byte) => byte === 0)).toBe(true)
    }),
    { numRuns: 15 },
  )
})

test('a zero cluster reads as zeros, also with an offset', async () => {
  const bytes = Buffer.alloc(3 * 65536, 7)
  const image = qcow2Image(bytes)
  const l2 = 2 * 65536
  image.writeBigUInt64BE(image.readBigUInt64BE(l2 + 8) | 1n, l2 + 8)
  const disk = await openQcow2(file(image))
  expect(await disk.zeros(65536)).toBe(65536)
  expect(await disk.read(65530, 12)).toEqual(Buffer.from([7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0]))
})

describe('an image is refused', () => {
  test.each<[string, (header: Buffer) => void, RegExp]>([
    ['of another format', (h) => h.fill(0), /not a qcow2 image/],
    ['of another version', (h) => h.writeUInt32BE(1, 4), /version 1/],
    ['that is based on another', (h) => h.writeBigUInt64BE(512n, 8), /based on another image/],
    ['that is encrypted', (h) => h.writeUInt32BE(2, 32), /encrypted/],
    ['with odd clusters', (h) => h.writeUInt32BE(30, 20), /2\^30/],
    ['whose data is in another file', (h) => h.writeBigUInt64BE(4n, 72), /0x4/],
    ['with subclusters', (h) => h.writeBigUInt64BE(16n, 72), /0x10/],
    ['that is marked as corrupt', (h) => h.writeBigUInt64BE(2n, 72), /0x2/],
    ['whose tables are too small', (h) => h.writeBigUInt64BE(1n << 45n, 24), /tables do not fit/],
    ['whose tables are not there', (h) => h.writeBigUInt64BE(1n << 40n, 40), /cut short/],
  ])('that is %s', async (_, header, sentence) => {
    const image = qcow2Image(Buffer.alloc(100_000, 1), { header })
    await expect(openQcow2(file(image))).rejects.toMatchObject({
      type: 'ImageWriteError',
      details: expect.stringMatching(sentence),
    })
  })

  test('when a compressed cluster is damaged', async () => {
    const image = qcow2Image(Buffer.alloc(65536, 'abc'), { compressed: true })
    image.fill(0xff, 3 * 65536)
    const disk = await openQcow2(file(image))
    await expect(disk.read(0, 100)).rejects.toThrow(/damaged|cut short/)
  })
})
