import { expect, test } from 'vitest'
import { seededRandom, VirtualClock } from '../../base/runtime/index.js'
import { imagePath, insideWith, runInstaller } from '../../test/kit/installer.js'
import { compareWithImage } from './compare-with-image.js'
import { describedDisk } from './described-disk.js'
import { readGpt } from './gpt.js'
import { setUpGpt } from './gpt-setup.js'

const clock = new VirtualClock()
const MIB = 2 ** 20

async function installed() {
  const disk = describedDisk({ name: 'sda', size: 512 * MIB, sectorSize: 512 })
  const inside = insideWith({ disks: [disk], metalImage: imagePath })
  const { code } = await runInstaller(inside, ['install', '/dev/sda', '--offline'])
  expect(code).toBe(0)
  return disk
}

test('the first boot gives the disk a GUID of its own and moves the backup table to its end', async () => {
  const disk = await installed()
  const before = (await readGpt(disk))!
  const bootCode = await disk.read(0, 446)

  await setUpGpt(disk, seededRandom(1))

  const after = (await readGpt(disk))!
  expect(before.diskGuid).toBe('00000000-0000-4000-a000-000000000001')
  expect(after.diskGuid).not.toBe(before.diskGuid)
  expect(after.partitions).toEqual(before.partitions)
  expect(after.backupLba).toBe(disk.size / 512 - 1)
  expect(await disk.read(0, 446)).toEqual(bootCode)
  const backup = Buffer.from(await disk.read(disk.size - 33 * 512, 33 * 512))
  expect(backup.subarray(32 * 512 + 56, 32 * 512 + 72)).toEqual(Buffer.from(await disk.read(512 + 56, 16)))
  expect(backup.subarray(0, 32 * 512)).toEqual(Buffer.from(await disk.read(2 * 512, 32 * 512)))
})

test('a disk that was set up before keeps its table, and still matches the image', async () => {
  const disk = await installed()
  await setUpGpt(disk, seededRandom(1))
  const table = await disk.read(0, MIB)
  await setUpGpt(disk, seededRandom(2))
  expect(await disk.read(0, MIB)).toEqual(table)
  expect(await compareWithImage(disk, imagePath, clock)).toMatchObject({ identical: true })
})
