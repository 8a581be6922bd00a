import { copyFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DiskSpec } from '../machine-spec.js'
import { systemClock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { DiskEdit } from './disk-edit.js'
import { FileBacked } from './file-backed.js'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-edit-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const KIB = 1024
const spec: DiskSpec = {
  name: 'sda',
  size: 64 * KIB,
  sectorSize: 512,
  rotational: false,
  transport: 'sata',
  vendor: 'ATA',
  model: 'disk',
  serial: 'S1',
  wwn: '0x5000000000000001',
  backing: { kind: 'file' },
}

const diskAt = (name: string, ours = true) =>
  new FileBacked(spec, join(folder, name), systemClock(), { ours, hostIsFull: () => {} })

const filled = (value: number, length = KIB) => new Uint8Array(length).fill(value)
const byteAt = async (disk: FileBacked, offset: number) => (await disk.read(offset, 1))[0]

/** The folder as a process leaves it that is killed now. */
async function killed(as: string): Promise<FileBacked> {
  for (const name of await readdir(folder))
    if (name.startsWith('disk')) await copyFile(join(folder, name), join(folder, name.replace('disk', as)))
  return diskAt(as)
}

test('an edit reads what it has written, and a process that is killed in it leaves nothing of it', async () => {
  await using disk = diskAt('disk')
  await disk.write(0, filled(1, 4 * KIB))
  await disk.edit(async () => {
    await disk.write(KIB, filled(2))
    await disk.write(1.5 * KIB, filled(3))
    await disk.discard(3 * KIB, KIB)
    expect([...(await disk.read(0, 4 * KIB))].filter((_, at) => at % 512 === 0)).toEqual([1, 1, 2, 3, 3, 1, 0, 0])
    await using left = await killed('left')
    expect([...(await left.read(0, 4 * KIB))].every((byte) => byte === 1)).toBe(true)
  })
  await using later = await killed('later')
  expect([...(await later.read(0, 4 * KIB))].filter((_, at) => at % 512 === 0)).toEqual([1, 1, 2, 3, 3, 1, 0, 0])
  expect(await readdir(folder)).not.toContain('disk.edit')
})

/** An edit of two writes to a disk whose second write does not come to an end, or fails. */
async function twoWrites(
  disk: FileBacked,
  second: () => Promise<void>,
): Promise<{ edit: DiskEdit; target: SimulatedDisk }> {
  const edit = new DiskEdit()
  edit.write(0, filled(7))
  edit.write(2 * KIB, filled(8))
  let writes = 0
  const target: SimulatedDisk = {
    name: disk.name,
    size: disk.size,
    sectorSize: disk.sectorSize,
    read: () => Promise.reject(new Error('not read')),
    write: (offset, bytes) => (++writes === 1 ? disk.write(offset, bytes) : second()),
    discard: () => Promise.resolve(),
    flush: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  await disk.read(0, 1)
  return { edit, target }
}

/** Leaves the disk as a process does that is killed between two writes of an edit. */
async function killedBetweenWrites(disk: FileBacked): Promise<void> {
  await new Promise<void>((reached) => {
    const never = (): Promise<void> => {
      reached()
      return new Promise(() => {})
    }
    void twoWrites(disk, never).then(async ({ edit, target }) =>
      edit.carryOut(target, await disk.path(), systemClock()),
    )
  })
  await disk.close()
}

test('an edit whose write fails is not carried out by a later process', async () => {
  const disk = diskAt('disk')
  const { edit, target } = await twoWrites(disk, () => Promise.reject(new Error('EIO')))
  await expect(edit.carryOut(target, await disk.path(), systemClock())).rejects.toThrow('EIO')
  await disk.close()
  expect(await readdir(folder)).toEqual(['disk'])
  await using next = diskAt('disk')
  expect(await byteAt(next, 2 * KIB)).toBe(0)
})

test('the next process carries out an edit that was stored whole', async () => {
  const disk = diskAt('disk')
  await killedBetweenWrites(disk)
  expect(await readdir(folder)).toEqual(['disk', 'disk.edit'])
  await using next = diskAt('disk')
  expect(await byteAt(next, 0)).toBe(7)
  expect(await byteAt(next, 2 * KIB)).toBe(8)
  expect(await readdir(folder)).toEqual(['disk'])
})

test('an edit that was cut short on its way to the host’s disk is none', async () => {
  await killedBetweenWrites(diskAt('disk'))
  await truncate(join(folder, 'disk.edit'), 1200)
  await using next = diskAt('disk')
  expect(await byteAt(next, 2 * KIB)).toBe(0)
  expect(await readdir(folder)).toEqual(['disk'])
})

test('an edit that fails leaves what it has written', async () => {
  await using disk = diskAt('disk')
  await expect(
    disk.edit(async () => {
      await disk.write(0, filled(5))
      throw new Error('power lost')
    }),
  ).rejects.toThrow('power lost')
  expect(await byteAt(disk, 0)).toBe(5)
})

test('a file of the user’s own is written as it comes', async () => {
  await writeFile(join(folder, 'own'), filled(0, 64 * KIB))
  await using disk = diskAt('own', false)
  await disk.edit(async () => {
    await disk.write(0, filled(9))
    expect((await readFile(join(folder, 'own')))[0]).toBe(9)
  })
})

test('a disk that is removed leaves no edit behind', async () => {
  await using disk = diskAt('disk')
  await disk.write(0, filled(1))
  await disk.close()
  await writeFile(join(folder, 'disk.edit'), '')
  await disk.remove()
  expect(await readdir(folder)).toEqual([])
})
