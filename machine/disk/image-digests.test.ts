import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hasXzProgram } from '../../base/bytes/index.js'
import { seededRandom, VirtualClock } from '../../base/runtime/index.js'
import { imagePath, insideWith, runInstaller } from '../../test/kit/installer.js'
import { compareWithImage } from './compare-with-image.js'
import { openFileDisk } from './file-disk.js'
import { setUpGpt } from './gpt-setup.js'
import { ImageDigests } from './image-digests.js'
import { partitionsLabelled } from './disk-partitions.js'

const clock = new VirtualClock()
const MIB = 2 ** 20

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-digests-'))
  path = join(folder, 'disk.img')
  await writeFile(path, '')
  await truncate(path, 512 * MIB)
})
afterEach(() => rm(folder, { recursive: true }))

async function installed() {
  const disk = await openFileDisk({ path, name: 'sda', sectorSize: 512, clock })
  const { code } = await runInstaller(insideWith({ disks: [disk], metalImage: imagePath }), [
    'install',
    '/dev/sda',
    '--offline',
  ])
  expect(code).toBe(0)
  await setUpGpt(disk, seededRandom(1))
  return disk
}

// Where there is none the disk is compared with the image itself, as it is in the tests of that.
describe.runIf(await hasXzProgram(clock))('with the xz of this computer', () => {
  test('says of a disk what a comparison with the image says', async () => {
    await using disk = await installed()
    await using image = new ImageDigests(imagePath, clock)
    const { compared } = await compareWithImage(disk, imagePath, clock)
    expect(await image.equalOn(disk, path)).toBe(compared)

    const [boot] = await partitionsLabelled(disk, 'boot')
    await disk.write(boot!.offset + 5 * MIB, Buffer.from('a config'))
    expect(await image.equalOn(disk, path)).toBe(compared)

    for (const at of [600, boot!.offset - 1, boot!.offset + boot!.length, compared - 1]) {
      const was = Buffer.from(await disk.read(at, 1))
      await disk.write(at, Buffer.from([was[0]! ^ 1]))
      expect({ at, equal: await image.equalOn(disk, path) }).toEqual({ at, equal: null })
      expect((await compareWithImage(disk, imagePath, clock)).identical).toBe(false)
      await disk.write(at, was)
    }
    expect(await image.equalOn(disk, path)).toBe(compared)
  })

  test('leaves a broken image to the comparison, which says what is wrong', async () => {
    const broken = join(folder, 'broken.xz')
    await writeFile(broken, (await readFile(imagePath)).subarray(0, -100))
    await using disk = await installed()
    await using image = new ImageDigests(broken, clock)
    expect(await image.equalOn(disk, path)).toBeNull()
    await expect(compareWithImage(disk, broken, clock)).rejects.toThrow()
  })

  test('stops reading when nothing is left to compare', async () => {
    await using disk = await installed()
    const image = new ImageDigests(imagePath, clock)
    await image[Symbol.asyncDispose]()
    expect(await image.equalOn(disk, path)).toBeNull()
  })
})
