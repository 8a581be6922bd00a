import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { Probe, systemClock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { describedDisk, type ImageContents } from './described-disk.js'
import { DiskError } from './disk-error.js'
import { createFileDisk, openFileDisk } from './file-disk.js'
import { ProbedDisk } from './probed-disk.js'

const SIZE = 3 * 1024 * 1024 + 4096
const folder = mkdtempSync(join(tmpdir(), 'ironstage-disks-'))
afterAll(() => rmSync(folder, { recursive: true }))
const clock = systemClock()
let files = 0

const newFile = (mayCut = false) => {
  const path = join(folder, `${files++}.raw`)
  return createFileDisk({ path, name: 'sda', size: SIZE, sectorSize: 512, clock, mayCut })
}
const kinds: [string, () => Promise<SimulatedDisk>][] = [
  ['file', () => newFile()],
  ['file (cut)', () => newFile(true)],
  ['described', () => Promise.resolve(describedDisk({ name: 'sda', size: SIZE, sectorSize: 512 }))],
  [
    'probed',
    () =>
      Promise.resolve(new ProbedDisk(describedDisk({ name: 'sda', size: SIZE, sectorSize: 512 }), new Probe(), 'm')),
  ],
]

const access = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    offset: fc.integer({ min: 0, max: SIZE - 1 }),
    length: fc.oneof(fc.integer({ min: 1, max: 9000 }), fc.integer({ min: 1, max: 400_000 })),
    byte: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({
    kind: fc.constant('discard' as const),
    offset: fc.integer({ min: 0, max: SIZE - 1 }),
    length: fc.integer({ min: 1, max: 2_000_000 }),
  }),
)

describe.each(kinds)('a %s disk', (_, make) => {
  test('reads the latest written bytes at any alignment, and zeros elsewhere', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(access, { maxLength: 12 }), async (accesses) => {
        const disk = await make()
        const model = Buffer.alloc(SIZE)
        for (const one of accesses) {
          const length = Math.min(one.length, SIZE - one.offset)
          if (one.kind === 'write') {
            await disk.write(one.offset, Buffer.alloc(length, one.byte))
            model.fill(one.byte, one.offset, one.offset + length)
          } else {
            await disk.discard(one.offset, one.length)
            model.fill(0, one.offset, one.offset + length)
          }
        }
        expect(Buffer.from(await disk.read(0, SIZE)).equals(model)).toBe(true)
        await disk[Symbol.asyncDispose]()
      }),
      { numRuns: 15 },
    )
  })

  test('writes the bytes that fit and fails with ENOSPC; a read at the end returns fewer bytes', async () => {
    const disk = await make()
    await expect(disk.write(SIZE - 2, Buffer.from('abcd'))).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(Buffer.from(await disk.read(SIZE - 2, 10)).toString()).toBe('ab')
    expect((await disk.read(SIZE + 5, 10)).length).toBe(0)
    await disk[Symbol.asyncDispose]()
  })
})

test('a file disk stays sparse under zeros, and can be opened again', async () => {
  const disk = await newFile()
  const path = join(folder, `${files - 1}.raw`)
  await disk.write(0, Buffer.alloc(2 * 1024 * 1024))
  await disk.write(1024 * 1024, Buffer.from('here'))
  await disk[Symbol.asyncDispose]()
  expect(statSync(path).size).toBe(SIZE)
  expect(statSync(path).blocks * 512).toBeLessThan(128 * 1024)

  const again = await openFileDisk({ path, name: 'sda', sectorSize: 512, clock })
  expect(Buffer.from(await again.read(1024 * 1024, 4)).toString()).toBe('here')
  await again.write(1024 * 1024, Buffer.alloc(4))
  expect(Buffer.from(await again.read(1024 * 1024, 4))).toEqual(Buffer.alloc(4))
  await again[Symbol.asyncDispose]()
})

test('a used file in the state folder is emptied without being read', async () => {
  const options = { path: join(folder, 'used.raw'), name: 'sda', sectorSize: 512, clock, mayCut: true }
  const made = await createFileDisk({ ...options, size: 2 ** 40 })
  await made.write(2 ** 39, Buffer.from('data'))
  await made[Symbol.asyncDispose]()

  const disk = await openFileDisk(options)
  await disk.discard(0, disk.size)
  expect(await disk.read(2 ** 39, 4)).toEqual(Buffer.alloc(4))
  await disk[Symbol.asyncDispose]()
  expect(statSync(options.path)).toMatchObject({ size: 2 ** 40, blocks: 0 })
})

test('a described disk adopts an image, changes only its own copy, and reloads contents that are not in memory', async () => {
  const page = (letter: string) => Buffer.alloc(4096, letter)
  const reloads: number[] = []
  const image: ImageContents = {
    size: 10 * 4096,
    pages: new Map([
      [0, page('a')],
      [3, page('b')],
    ]),
    mustReload: (index) => index >= 8,
    reload: (offset) => {
      reloads.push(offset)
      return Promise.resolve(page('z'))
    },
  }
  const [one, two] = ['sda', 'sdb'].map((name) => describedDisk({ name, size: SIZE, sectorSize: 512 }))
  await one!.write(5 * 4096, page('x'))
  for (const disk of [one!, two!]) await disk.adopt(0, image.size, image)
  await one!.write(3 * 4096 + 1, Buffer.from('!'))

  const letters = async (disk: SimulatedDisk, at: number) => Buffer.from(await disk.read(at, 3)).toString()
  expect([await letters(one!, 0), await letters(one!, 3 * 4096), await letters(two!, 3 * 4096)]).toEqual([
    'aaa',
    'b!b',
    'bbb',
  ])
  expect(await letters(one!, 5 * 4096)).toBe('\0\0\0')
  expect([await letters(one!, 9 * 4096), reloads]).toEqual(['zzz', [9 * 4096]])
  await expect(two!.adopt(SIZE - 4096, 8192, image)).rejects.toBeInstanceOf(DiskError)
})

test('a fault can strike a byte range of one disk', async () => {
  const probe = new Probe()
  const points: unknown[] = []
  probe.attach((point, next) => {
    points.push(point)
    const { kind, offset, length } = point as unknown as { kind: string; offset: number; length: number }
    if (kind === 'disk-write' && offset <= 5000 && 5000 < offset + length)
      return Promise.reject(new DiskError('EIO', 'sda', 5000))
    return next()
  })
  const disk = new ProbedDisk(describedDisk({ name: 'sda', size: SIZE, sectorSize: 512 }), probe, 'machine-1')
  await disk.write(0, Buffer.alloc(4096, 1))
  await expect(disk.write(4096, Buffer.alloc(4096, 1))).rejects.toMatchObject({ code: 'EIO' })
  expect(points).toEqual([
    { kind: 'disk-write', machine: 'machine-1', disk: 'sda', offset: 0, length: 4096 },
    { kind: 'disk-write', machine: 'machine-1', disk: 'sda', offset: 4096, length: 4096 },
  ])
})
