import { mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { makeDiskFile } from './disk-file.js'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-disk-'))
  path = join(folder, 'thesis.img')
  await writeFile(path, 'ten years of work')
})

test('an old file stays where a disk of the size cannot be made', async () => {
  await expect(makeDiskFile(path, 2 ** 60, true)).rejects.toMatchObject({ code: 'disk-file' })
  expect(await readFile(path, 'utf8')).toBe('ten years of work')
  expect(await readdir(folder)).toEqual(['thesis.img'])
})

test('a link to a disk file stays one, and the file is ours the next time', async () => {
  const link = join(folder, 'link.img')
  await symlink(path, link)
  await makeDiskFile(link, 4096, true)
  await makeDiskFile(link, 8192, false)
  expect((await stat(path)).size).toBe(8192)
  expect((await readdir(folder)).sort()).toEqual(['link.img', 'link.img.ironstage', 'thesis.img'])
})
