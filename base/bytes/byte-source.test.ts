import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesSource, followedBy, overlaySource, sliceSource, streamSource } from './byte-source.js'

const range = fc.record({ offset: fc.nat(80), length: fc.nat(80) })

test('an overlay reads like a copy with the ranges replaced, from anywhere', async () => {
  const patch = fc.record({ offset: fc.nat(60), bytes: fc.uint8Array({ maxLength: 30 }) })
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 90, maxLength: 90 }),
      fc.array(patch, { maxLength: 4 }),
      range,
      async (base, patches, { offset, length }) => {
        const copy = Buffer.from(base)
        for (const { offset, bytes } of patches) copy.set(bytes, offset)
        const read = await overlaySource(bytesSource(base), patches).read(offset, length)
        expect(Buffer.from(read).equals(copy.subarray(offset, offset + length))).toBe(true)
      },
    ),
  )
})

test('one after another reads like both together, and a slice like its part', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.uint8Array(), range, async (base, more, { offset, length }) => {
      const both = Buffer.concat([base, more])
      const joined = followedBy(bytesSource(base), more)
      expect(Buffer.from(await joined.read(offset, length)).equals(both.subarray(offset, offset + length))).toBe(true)
      const part = sliceSource(bytesSource(both), 0, Math.min(5, both.length))
      expect(
        Buffer.from(await part.read(offset, length)).equals(both.subarray(0, 5).subarray(offset, offset + length)),
      ).toBe(true)
    }),
  )
})

test('a range is streamed in pieces', async () => {
  const bytes = Buffer.alloc(600_000, 'abc')
  const parts: Uint8Array[] = []
  for await (const part of streamSource(bytesSource(bytes), { start: 10, end: 590_000 })) parts.push(part)
  expect(parts.length).toBe(3)
  expect(Buffer.concat(parts).equals(bytes.subarray(10, 590_000))).toBe(true)
})

test('a patch that is not within its base is a defect', () => {
  expect(() => overlaySource(bytesSource(Buffer.alloc(4)), [{ offset: 3, bytes: Buffer.alloc(2) }])).toThrow(RangeError)
})
