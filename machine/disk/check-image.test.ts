import { gzipSync } from 'node:zlib'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock, UserError } from '../../base/runtime/index.js'
import { imagePath, readImage } from '../../test/kit/installer.js'
import { checkMetalImage } from './check-image.js'
import { readContents } from './described-disk.js'
import { imageCache } from './image-contents.js'
import { readXzIndex } from '../../base/bytes/compression/xz-index.js'

const clock = systemClock()
const folder = mkdtempSync(join(tmpdir(), 'ironstage-images-'))
afterAll(() => rmSync(folder, { recursive: true }))
let raw: Buffer

beforeAll(async () => {
  const image = await imageCache.load(imagePath, clock)
  raw = await readContents(image, 0, image.size)
})

function file(name: string, bytes: Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

test('the committed image is small and valid', async () => {
  expect(readImage().length).toBeLessThan(100 * 1024)
  expect(await checkMetalImage(imagePath, clock)).toEqual({
    path: imagePath,
    compression: 'xz',
    fileSize: readImage().length,
    size: 48 * 1024 * 1024,
    sectorSize: 512,
    boot: { offset: 6 * 1024 * 1024, length: 24 * 1024 * 1024 },
  })
  expect((await readXzIndex(imagePath, clock))?.size).toBe(48 * 1024 * 1024)
})

test('the committed image has a boot filesystem with the files of CoreOS', async () => {
  expect(await checkMetalImage(file('whole.raw', raw), clock)).toMatchObject({ compression: 'raw', size: raw.length })
})

const noBoot = () => {
  const copy = Buffer.from(raw)
  copy.fill(0, 6 * 1024 * 1024, 6 * 1024 * 1024 + 4096)
  return copy
}
const iso = () => {
  const bytes = Buffer.alloc(2 * 1024 * 1024)
  bytes.write('CD001', 32769)
  return bytes
}
const badTable = () => {
  const copy = Buffer.from(raw)
  copy[1024]! ^= 1
  return copy
}

test.each([
  ['cut.raw', () => raw.subarray(0, 40_000_000), 'image-truncated', /describes 50331648 bytes, and it has 40000000$/],
  ['cut.raw.xz', () => readImage().subarray(0, 9000), 'image-truncated', /is truncated/],
  ['junk.raw', () => Buffer.concat([raw, Buffer.from('junk')]), 'image-trailing-data', /followed by bytes/],
  ['junk.raw.xz', () => Buffer.concat([readImage(), Buffer.from('junk')]), 'image-trailing-data', /followed by bytes/],
  ['noboot.raw', noBoot, 'image-no-boot', /no filesystem labelled boot/],
  ['live.iso', iso, 'image-not-a-disk', /is an ISO image, not a metal image/],
  ['disk.qcow2', () => Buffer.from('QFI\u00fb'), 'image-not-a-disk', /is a qcow2 image/],
  ['notes.txt', () => Buffer.from('hello'), 'image-not-a-disk', /has no GPT/],
  ['table.raw', badTable, 'image-not-a-disk', /partition table of .* is damaged: the GPT entries/],
])('%s is refused with reason and remedy', async (name, bytes, code, sentence) => {
  const error: unknown = await checkMetalImage(file(name, bytes()), clock).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(UserError)
  expect(error).toMatchObject({ code, message: expect.stringMatching(sentence) as string })
  expect((error as UserError).remedy).toBeTruthy()
})

test('a file that cannot be read is an error', async () => {
  await expect(checkMetalImage(join(folder, 'none'), clock)).rejects.toMatchObject({ code: 'image-unreadable' })
  await expect(checkMetalImage(folder, clock)).rejects.toMatchObject({ code: 'image-unreadable' })
})

test('an image is not decompressed beyond the end of its partition table, nor for a smaller disk', async () => {
  const bomb = gzipSync(Buffer.concat([raw, Buffer.alloc(64 * 1024 * 1024)]))
  await expect(checkMetalImage(file('bomb.raw.gz', bomb), clock)).rejects.toMatchObject({ code: 'image-trailing-data' })
  await expect(checkMetalImage(imagePath, clock, { disk: 1024 * 1024 })).rejects.toMatchObject({
    code: 'disk-too-small',
  })
})
