import fc from 'fast-check'
import { expect, test } from 'vitest'
import { imagePath, insideWith, runInstaller } from '../../../test/kit/installer.js'
import { buildGpt, readGpt } from '../../disk/gpt.js'
import { describedDisk } from '../../disk/described-disk.js'
import { compileGlob } from './glob.js'
import type { InstallOptions } from './command-line/installer-options.js'
import { parseFilters } from './partition-filters.js'

const MIB = 2 ** 20
const LINUX = '0fc63daf-8483-4772-8e79-3d69d8477de4'
type Expected = [number, string, number, number]

/** A disk of 64 MiB with partitions (number, name, first MiB, MiB), each filled with its number. */
async function diskWith(partitions: readonly Expected[]) {
  const disk = describedDisk({ name: 'sda', size: 64 * MIB, sectorSize: 512 })
  const { primary, backup, backupOffset } = buildGpt({
    size: disk.size,
    sectorSize: 512,
    diskGuid: '11111111-2222-4333-8444-555555555555',
    partitions: partitions.map(([number, name, first, length]) => ({
      number,
      name,
      type: LINUX,
      guid: `11111111-2222-4333-8444-${String(number).padStart(12, '0')}`,
      firstLba: first * 2048,
      lastLba: (first + length) * 2048 - 1,
      attributes: 4n,
    })),
  })
  await disk.write(0, primary)
  await disk.write(backupOffset, backup)
  for (const [number, , first, length] of partitions) await disk.write(first * MIB, Buffer.alloc(length * MIB, number))
  return disk
}

const install = (disk: Awaited<ReturnType<typeof diskWith>>, ...args: string[]) =>
  runInstaller(insideWith({ disks: [disk], metalImage: imagePath }), ['install', '/dev/sda', ...args])

test('saved partitions come after those of the image, with their numbers when these are free', async () => {
  const disk = await diskWith([
    [3, 'three', 50, 1],
    [5, 'five', 52, 1],
    [9, 'nine', 54, 1],
    [11, 'gone', 56, 1],
  ])
  const before = (await readGpt(disk))!

  const { code, stderr } = await install(disk, '--save-partlabel', 'thr??,five', '--save-partindex', '7-9')

  expect(code, stderr).toBe(0)
  expect(stderr).toContain(
    'Saving partition 3 ("three") to new partition 5\n' +
      'Saving partition 5 ("five") to new partition 6\n' +
      'Saving partition 9 ("nine") to new partition 9\n',
  )
  const after = (await readGpt(disk))!
  expect(after.diskGuid).toBe('00000000-0000-4000-a000-000000000001')
  expect(after.backupLba).toBe(disk.size / 512 - 1)
  expect(after.partitions.map(({ number, name }) => [number, name])).toEqual([
    [1, 'BIOS-BOOT'],
    [2, 'EFI-SYSTEM'],
    [3, 'boot'],
    [4, 'root'],
    [5, 'three'],
    [6, 'five'],
    [9, 'nine'],
  ])
  for (const { name, guid, attributes, offset, length } of before.partitions.filter(({ name }) => name !== 'gone')) {
    expect(after.partitions.find((one) => one.name === name)).toMatchObject({ guid, attributes, offset, length })
    const number = Number(guid.slice(-2))
    expect(Buffer.from(await disk.read(offset, length)).every((byte) => byte === number)).toBe(true)
  }
})

test('saved partitions have their bytes afterwards, also when the installation fails', async () => {
  const partition = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 63 }))
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(partition, { selector: ([n]) => n, maxLength: 4 }),
      fc.boolean(),
      async (all, keeps) => {
        const places = [...new Map(all.map(([number, first]) => [first, number]))].filter(([first]) => first < 63)
        const disk = await diskWith(places.map(([first, number]) => [number, `p${number}`, first, 1]))
        const { code } = await install(disk, '--save-partlabel', 'p*', ...(keeps ? ['--preserve-on-error'] : []))
        expect(code).toBe(places.every(([first]) => first >= 48) ? 0 : 1)
        const { partitions } = (await readGpt(disk))!
        for (const [first, number] of places) {
          expect(partitions).toContainEqual(
            expect.objectContaining({ name: `p${number}`, offset: first * MIB, length: MIB }),
          )
          expect(Buffer.from(await disk.read(first * MIB, MIB)).every((byte) => byte === number)).toBe(true)
        }
        if (code !== 0) expect(partitions).toHaveLength(places.length)
      },
    ),
    { numRuns: 6 },
  )
})

test('with --preserve-on-error the saved entries are stored as a table, and no more', async () => {
  // The image would overwrite the partition.
  const disk = await diskWith([[1, 'mine', 20, 1]])
  const inside = insideWith({ disks: [disk], metalImage: imagePath })
  const args = ['install', '/dev/sda', '--save-partlabel', 'mine', '--preserve-on-error']
  const { code, stderr } = await runInstaller(inside, args)
  expect(code).toBe(1)
  const [, path] = /^Storing saved partition entries to (\S+)$/m.exec(stderr)!
  const stored = Buffer.from(inside.files.read(path!))
  expect(stored.toString('latin1', 512, 520)).toBe('EFI PART')
  expect(stored.includes(Buffer.from('mine', 'utf16le'))).toBe(true)
  expect(stored.length).toBeLessThanOrEqual(34 * 512)
})

test.each([
  ['data*', ['data', 'data1'], ['Data1', 'adata']],
  ['?ata[0-35]', ['data1', 'xata5'], ['data4', 'ata1']],
  ['[!a]', ['b', ']'], ['a', 'bb', '']],
  ['[]a]', [']', 'a'], ['b']],
  ['**', ['', 'a/b'], []],
  ['a.b', ['a.b'], ['axb']],
  ['', [''], ['a']],
])('the pattern %j matches as the glob library does', (pattern, yes, no) => {
  const matches = compileGlob(pattern)
  expect(yes.map(matches)).toEqual(yes.map(() => true))
  expect(no.map(matches)).toEqual(no.map(() => false))
})

test.each([
  [{ savePartindex: ['5'] }, [5]],
  [{ savePartindex: ['2-3,7-'] }, [2, 3, 7, 8]],
  [{ savePartindex: ['-2'], savePartlabel: ['p8'] }, [1, 2, 8]],
  [{ savePartlabel: ['p[67],nothing'] }, [6, 7]],
  [{}, []],
])('%j saves %j', async (options, saved) => {
  const filters = await parseFilters({ savePartlabel: [], savePartindex: [], ...options } as unknown as InstallOptions)
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8]
  expect(numbers.filter((number) => filters.matches({ number, name: `p${number}` }))).toEqual(saved)
})
