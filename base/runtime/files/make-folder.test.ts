import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeFolder } from './make-folder.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-make-folder-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('folders that are missing are made, by several at once too, and those that are there stay', async () => {
  const path = join(folder, 'a/b/c')
  await Promise.all([makeFolder(path, 0o700), makeFolder(path, 0o700), makeFolder(join(path, 'd'), 0o700)])
  await makeFolder(path)
  expect((await stat(join(path, 'd'))).mode & 0o777).toBe(0o700)
})

test.each([
  ['/proc/no/such/folder', 'ENOENT'],
  ['/proc/self/fd/x', 'ENOENT'],
  ['/dev/null/x', 'ENOTDIR'],
])('where none can be made, it fails with the error of the kernel: %s', async (path, code) => {
  await expect(makeFolder(path)).rejects.toMatchObject({ code })
})

test('a file is not a folder', async () => {
  const path = join(folder, 'file')
  await writeFile(path, '')
  await expect(makeFolder(path)).rejects.toMatchObject({ code: 'EEXIST' })
  await expect(makeFolder(join(path, 'x'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})
