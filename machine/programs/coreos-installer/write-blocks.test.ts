import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import lzma from 'lzma-native'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../../base/runtime/index.js'
import { describedDisk } from '../../disk/described-disk.js'
import { readXzIndex } from '../../../base/bytes/compression/xz-index.js'
import { Pacer } from './pacer.js'
import { writeBlocks } from './write-blocks.js'

const KIB = 1024
const clock = systemClock()
const folder = mkdtempSync(join(tmpdir(), 'ironstage-blocks-'))
afterAll(() => rmSync(folder, { recursive: true }))

const plain = Buffer.concat([
  Buffer.from(seededRandom(3).bytes(200 * KIB)),
  Buffer.alloc(900 * KIB),
  Buffer.alloc(300 * KIB, 'CoreOS'),
])
let xz: Buffer
beforeAll(async () => {
  xz = await new Promise((resolve) =>
    lzma.compress(plain, { preset: 1, threads: 1, blockSize: 256 * KIB }, (result) => resolve(result)),
  )
})

async function write(bytes: Buffer, name: string) {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  const index = (await readXzIndex(path, clock))!
  const device = describedDisk({ name: 'sda', size: 2048 * KIB, sectorSize: 512 })
  const positions: number[] = []
  const pacer = new Pacer(clock, 0, new AbortController().signal)
  const read = (position: number) => positions.push(position)
  const written = writeBlocks({ path, index, device, from: 64 * KIB, clock, pacer, read })
  return { index, device, positions, written }
}

test('blocks that are decompressed in parallel are written at their offsets', async () => {
  const { index, device, positions, written } = await write(xz, 'image.xz')
  await written
  expect([index.blocks.length, index.size]).toEqual([6, plain.length])
  const disk = Buffer.from(await device.read(0, plain.length))
  expect(disk.subarray(64 * KIB).equals(plain.subarray(64 * KIB))).toBe(true)
  expect(disk.subarray(0, 64 * KIB).every((byte) => byte === 0)).toBe(true)
  expect(positions.at(-1)).toBe(index.blocks.reduce((sum, { length }) => sum + length, 0))
})

test('damage in one block is an error, after every worker has stopped', async () => {
  const damaged = Buffer.from(xz)
  damaged.fill(0x55, 100 * KIB, 101 * KIB)
  const { written } = await write(damaged, 'damaged.xz')
  await expect(written).rejects.toThrow('lzma data error')
})

test('bytes before the damage are written, bytes after it are not', async () => {
  const { index } = await write(xz, 'whole.xz')
  for (const [place, { offset, length, outputOffset }] of index.blocks.entries()) {
    const damaged = Buffer.from(xz)
    damaged[offset + length - 12]! ^= 0xff
    const { device, written } = await write(damaged, `damaged-${place}.xz`)
    await expect(written).rejects.toThrow('lzma data error')
    const disk = Buffer.from(await device.read(0, plain.length))
    const before = disk.subarray(64 * KIB, outputOffset)
    expect(before.equals(plain.subarray(64 * KIB, outputOffset))).toBe(true)
    const end = Math.max(64 * KIB, outputOffset + index.blocks[place]!.outputLength - 32 * KIB)
    expect(disk.subarray(end).every((byte) => byte === 0)).toBe(true)
  }
})

test('a file that is not one complete stream has no index', async () => {
  for (const bytes of [xz.subarray(0, -4), xz.subarray(4), Buffer.concat([xz, xz]), Buffer.from('hello')]) {
    const path = join(folder, 'other.xz')
    writeFileSync(path, bytes)
    expect(await readXzIndex(path, clock)).toBeUndefined()
  }
})
