import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decompress, memorySource } from '../../../base/bytes/index.js'
import { MIB, Probe, seededRandom, systemClock } from '../../../base/runtime/index.js'
import { insideWith, readSmallImage, runInstaller } from '../../../test/kit/installer.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { compareWithImage } from '../../disk/compare-with-image.js'
import { DiskError } from '../../disk/disk-error.js'
import { createFileDisk } from '../../disk/file-disk.js'
import { readGpt } from '../../disk/gpt.js'
import { ProbedDisk, type DiskPoint } from '../../disk/probed-disk.js'

const clock = systemClock()
const folder = mkdtempSync(join(tmpdir(), 'ironstage-raw-image-'))
const raw = join(folder, 'coreos-metal.raw')
/** No multiple of what is read or written at once. */
const BEHIND = 3 * MIB + 300 * 1024 + 77
const OFFLINE = ['install', '/dev/sda', '--offline']
let size = 0

beforeAll(async () => {
  const parts: Uint8Array[] = []
  for await (const bytes of decompress(memorySource(readSmallImage()), clock)) parts.push(Buffer.from(bytes))
  const image = Buffer.concat([...parts, seededRandom(3).bytes(BEHIND)])
  size = image.length
  writeFileSync(raw, image)
})
afterAll(() => rmSync(folder, { recursive: true }))

let disks = 0
const fileDisk = (): Promise<SimulatedDisk> =>
  createFileDisk({ path: join(folder, `sda-${disks++}`), name: 'sda', size: size + 9 * MIB, sectorSize: 512, clock })

/** A disk that calls `seen` before each write. */
function watchedDisk(disk: SimulatedDisk, seen: (point: DiskPoint) => void): SimulatedDisk {
  const probe = new Probe()
  probe.attach((point, next) => {
    const access = point as unknown as DiskPoint
    if (access.kind === 'disk-write') seen(access)
    return next()
  })
  return new ProbedDisk(disk, probe, 'm')
}

test('an image that is not compressed replaces old data on the disk of a file, and leaves what is behind it', async () => {
  await using disk = await fileDisk()
  const old = Buffer.alloc(size + 8 * MIB, 'old data')
  await disk.write(0, old)
  const { code, stderr } = await runInstaller(insideWith({ disks: [disk], metalImage: raw }), OFFLINE)
  expect(code, stderr).toBe(0)
  expect(await compareWithImage(disk, raw, clock)).toMatchObject({ identical: true, compared: size })
  const behind = Buffer.from(await disk.read(size, MIB))
  expect(behind.equals(old.subarray(size, size + MIB))).toBe(true)
  // As the real installer: after the last read, and after the one that finds the end.
  expect(stderr.match(/\(100%\)/g)).toHaveLength(2)
})

test('its first MiB is written last, the rest in order and in the pieces of a compressed image', async () => {
  await using disk = await fileDisk()
  const written: { offset: number; length: number }[] = []
  const watched = watchedDisk(disk, ({ offset, length }) => void written.push({ offset, length }))
  await runInstaller(insideWith({ disks: [watched], metalImage: raw }), OFFLINE)
  const rest = written.slice(
    written.findIndex(({ offset }) => offset === MIB),
    -1,
  )
  expect(written.at(-1)).toEqual({ offset: 0, length: MIB })
  expect(rest.slice(0, -1).every(({ length }) => length === MIB / 2)).toBe(true)
  expect(rest.map(({ offset }) => offset)).toEqual(rest.map((_, index) => MIB + (index * MIB) / 2))
  expect(rest.at(-1)!.offset + rest.at(-1)!.length).toBe(size)
})

test('a medium error leaves an empty table', async () => {
  await using disk = await fileDisk()
  const broken = watchedDisk(disk, ({ offset }) => {
    if (offset === 8 * MIB) throw new DiskError('EIO', 'sda', offset)
  })
  const { code, stderr } = await runInstaller(insideWith({ disks: [broken], metalImage: raw }), OFFLINE)
  expect(code).toBe(1)
  expect(stderr).toContain('Error: decoding and writing image\n\nCaused by:\n    Input/output error (os error 5)\n')
  expect(await readGpt(disk)).toMatchObject({ partitions: [] })
})

test('an image that is cut while it is copied ends where it was cut, as a read of the real installer does', async () => {
  const cut = join(folder, 'cut.raw')
  writeFileSync(cut, Buffer.alloc(12 * MIB, 1))
  await using disk = await fileDisk()
  const watched = watchedDisk(disk, ({ offset }) => {
    if (offset === MIB) truncateSync(cut, 6 * MIB)
  })
  await runInstaller(insideWith({ disks: [watched], metalImage: cut }), OFFLINE)
  expect((await disk.read(5 * MIB, MIB)).every((byte) => byte === 1)).toBe(true)
  expect((await disk.read(7 * MIB, MIB)).every((byte) => byte === 0)).toBe(true)
})

test('an image of less than a MiB is refused', async () => {
  const short = join(folder, 'short.raw')
  writeFileSync(short, Buffer.alloc(MIB - 1, 1))
  await using disk = await fileDisk()
  const { code, stderr } = await runInstaller(insideWith({ disks: [disk], metalImage: short }), OFFLINE)
  expect(code).toBe(1)
  expect(stderr).toContain('Error: decoding first MiB of image\n\nCaused by:\n    failed to fill whole buffer\n')
})
