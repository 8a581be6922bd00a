import { mkdir, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { replaceFile, replaceFileSync, replaceLink } from './replace-file.js'
import { temporaryFolder } from './temporary-folder.js'

const replaceNow = (path: string, text: string, mode?: number) => Promise.resolve(replaceFileSync(path, text, mode))

test.each([
  ['replaceFile', (path: string, text: string, mode?: number) => replaceFile(path, text, mode ? { mode } : {})],
  ['replaceFileSync', replaceNow],
])('%s leaves the new text and nothing else', async (_, replace) => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'state')
  await replace(path, 'first')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  await replace(path, 'x', 0o644)
  expect(await readFile(path, 'utf8')).toBe('x')
  expect((await stat(path)).mode & 0o777).toBe(0o644)
  expect(await readdir(folder.path)).toEqual(['state'])
})

test('a file of a user that has the name with .new stays', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'state')
  await writeFile(`${path}.new`, 'of the user')
  await replaceFile(path, 'x')
  replaceFileSync(path, 'y')
  await replaceLink('elsewhere', path)
  expect(await readlink(path)).toBe('elsewhere')
  expect(await readFile(`${path}.new`, 'utf8')).toBe('of the user')
  expect(await readdir(folder.path)).toEqual(['state', 'state.new'])
})

test('a write that fails leaves the old text', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'state')
  await writeFile(path, 'old')
  await mkdir(join(folder.path, '.state.new'))
  await expect(replaceFile(path, 'new')).rejects.toMatchObject({ code: 'EISDIR' })
  expect(() => replaceFileSync(path, 'new')).toThrow('EISDIR')
  expect(await readFile(path, 'utf8')).toBe('old')
})

test.each([
  ['replaceFile', (path: string, text: string) => replaceFile(path, text)],
  ['replaceFileSync', async (path: string, text: string) => replaceFileSync(path, text)],
])('%s that fails at the end leaves no half of a file', async (_, replace) => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'state')
  await mkdir(join(path, 'full'), { recursive: true })
  await expect(replace(path, 'new')).rejects.toThrow(/EISDIR|ENOTEMPTY/)
  expect(await readdir(folder.path)).toEqual(['state'])
})
