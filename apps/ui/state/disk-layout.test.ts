import { expect, test } from 'vitest'
import { bytesText, diskBoxes, usedEnd, writesOf } from './disk-layout.js'

test('partitions are drawn to scale', () => {
  expect(
    diskBoxes(
      100,
      [
        { offset: 0, length: 50 },
        { offset: 50, length: 25 },
      ],
      200,
      10,
    ),
  ).toEqual([
    { index: 0, left: 0, width: 100 },
    { index: 1, left: 100, width: 50 },
  ])
})

test('thin partitions can be seen, and none lies over another or outside', () => {
  const parts = [0, 1, 2, 3].map((number) => ({ offset: 997 + number, length: 1 }))
  const boxes = diskBoxes(1001, parts, 300, 20)
  for (const [at, { left, width }] of boxes.entries()) {
    expect(width).toBeCloseTo(20)
    if (at > 0) expect(left).toBeGreaterThanOrEqual(boxes[at - 1]!.left + 19.9)
    expect(left + width).toBeLessThanOrEqual(300.1)
  }
})

test('many partitions share the room', () => {
  const parts = Array.from({ length: 100 }, (_, number) => ({ offset: number, length: 1 }))
  const last = diskBoxes(100, parts, 50, 20).at(-1)!
  expect(last.left + last.width).toBeCloseTo(50)
})

test('bytes have units', () => {
  expect([0, 1023, 1024, 1.5 * 2 ** 30].map(bytesText)).toEqual(['0 B', '1023 B', '1 KiB', '1.5 GiB'])
})

const part = (number: number, name: string, offset: number, length: number) => ({
  number,
  name,
  offset,
  length,
  type: 't',
  filesystem: null,
  changed: 0,
})
const DISK = {
  size: 1000,
  partitions: [part(1, 'boot', 10, 40), part(2, 'root', 50, 50)],
  written: [
    { offset: 0, length: 60, at: 5, boot: 'a', by: 'coreos-installer' },
    { offset: 990, length: 10, at: 6, boot: 'a', by: 'coreos-installer' },
    { offset: 60, length: 5, at: 9, boot: 'b', by: 'system' },
  ],
}

test('a disk that is mostly empty is drawn up to the end of its use, without the copy of its table', () => {
  expect(usedEnd(DISK)).toBe(100)
  expect(usedEnd({ ...DISK, size: 300 })).toBe(null)
  expect(usedEnd({ size: 1000, partitions: [], written: [] })).toBe(null)
})

test('writes are grouped by program and boot, the last first, with the partitions that they changed', () => {
  expect(writesOf(DISK)).toEqual([
    { by: 'system', boot: 'b', at: 9, bytes: 5, ranges: 1, partitions: ['2 root'] },
    { by: 'coreos-installer', boot: 'a', at: 6, bytes: 70, ranges: 2, partitions: ['1 boot', '2 root'] },
  ])
})
