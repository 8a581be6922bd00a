import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../base/runtime/index.js'
import { openStateFolder, stateFolderError } from './state-folder.js'

const scratch = () => mkdtemp(join(tmpdir(), 'ironstage-folder-'))

describe('a state folder', () => {
  test('is created private, and can be opened again once it is closed', async () => {
    const path = join(await scratch(), 'deep', 'state')
    for (let i = 0; i < 2; i++) {
      using folder = await openStateFolder(path)
      expect(folder.ironicDb).toBe(join(path, 'ironic.db'))
      expect(folder.remembered('port')).toBe(i === 0 ? undefined : '1')
      folder.remember('port', '1')
    }
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect(await readFile(join(path, 'VERSION'), 'utf8')).toBe('ironstage 2\n')
  })

  test('is used by one process at a time', async () => {
    const path = await scratch()
    using _ = await openStateFolder(path)
    await expect(openStateFolder(path)).rejects.toMatchObject({
      code: 'locked-folder',
      message: `the state folder ${path} is in use by another ironstage`,
    })
  })

  test.each([
    ['other files', 'thesis.txt', 'x', /is not a state folder of ironstage: it holds thesis\.txt/],
    ['a newer layout', 'VERSION', 'ironstage 3\n', /its layout is 3, expected 2/],
    ['another program’s VERSION', 'VERSION', '14\n', /its VERSION says "14\\n"/],
  ])('is refused when it holds %s', async (_, file, content, message) => {
    const path = await scratch()
    await writeFile(join(path, file), content)
    await expect(openStateFolder(path)).rejects.toMatchObject({ code: 'foreign-folder', kind: 'usage' })
    await expect(openStateFolder(path)).rejects.toThrow(message)
  })

  test('a path that cannot be a folder is refused', async () => {
    const file = join(await scratch(), 'file')
    await writeFile(file, '')
    for (const path of [file, join(file, 'below')])
      await expect(openStateFolder(path)).rejects.toMatchObject({
        code: 'state-folder',
        message: `the state folder ${path} is not a folder`,
      })
  })

  test.each([
    ['EROFS', 'is on a read-only filesystem'],
    ['EACCES', 'may not be written by this user'],
    ['ENOSPC', 'there is no space left'],
    ['SQLITE_FULL', 'there is no space left'],
    ['SQLITE_BUSY', 'is in use by another ironstage'],
    ['SQLITE_CANTOPEN', 'cannot be used'],
  ])('that fails with %s is refused with an explanation', (code, sentence) => {
    const error = stateFolderError('/srv/state', Object.assign(new Error('no'), { code }))
    expect(error).toBeInstanceOf(UserError)
    expect((error as UserError).message).toContain(sentence)
    expect((error as UserError).message).toContain('/srv/state')
  })

  test('a lock that is not a database is refused with an explanation', async () => {
    const path = await scratch()
    ;(await openStateFolder(path))[Symbol.dispose]()
    await rm(join(path, 'lock'))
    await mkdir(join(path, 'lock'))
    await expect(openStateFolder(path)).rejects.toMatchObject({ code: 'state-folder' })
  })
})
