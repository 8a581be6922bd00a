import { chmod, link, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { replaceFile, replaceFileSync, replaceLink, writeResult } from './replace-file.js'
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

describe('writeResult', () => {
  test('leaves the old file when the new one cannot be completed', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'out')
    await writeFile(path, 'old')
    await mkdir(join(folder.path, '.out.new'))
    await expect(writeResult(path, 'new')).rejects.toMatchObject({ code: 'EISDIR' })
    expect(await readFile(path, 'utf8')).toBe('old')
  })

  test('keeps the mode of a file, and follows a link to it', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'out')
    await writeFile(path, 'old')
    await chmod(path, 0o640)
    await symlink('out', join(folder.path, 'name'))
    await writeResult(join(folder.path, 'name'), Buffer.from('new'))
    expect(await readlink(join(folder.path, 'name'))).toBe('out')
    expect(await readFile(path, 'utf8')).toBe('new')
    expect((await stat(path)).mode & 0o777).toBe(0o640)
  })

  test('writes into a file that has two names, and into a device', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'out')
    await writeFile(path, 'old')
    await link(path, join(folder.path, 'same'))
    await writeResult(path, 'new')
    expect(await readFile(join(folder.path, 'same'), 'utf8')).toBe('new')
    await writeResult('/dev/null', 'x')
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true)
  })

  test('makes a file with the permissions of any other', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'out')
    await writeResult(path, 'x')
    await writeFile(join(folder.path, 'plain'), 'x')
    expect((await stat(path)).mode).toBe((await stat(join(folder.path, 'plain'))).mode)
  })
})
