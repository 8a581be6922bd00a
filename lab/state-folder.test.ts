import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStateFolder } from './state-folder.js'

const scratch = () => mkdtemp(join(tmpdir(), 'ironstage-folder-'))

describe('a state folder', () => {
  test('is made, private, and can be opened again once it is closed', async () => {
    const path = join(await scratch(), 'deep', 'state')
    for (let i = 0; i < 2; i++) {
      using folder = await openStateFolder(path)
      expect(folder.ironicDb).toBe(join(path, 'ironic.db'))
      expect(folder.remembered('port')).toBe(i === 0 ? undefined : '1')
      folder.remember('port', '1')
    }
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect(await readFile(join(path, 'VERSION'), 'utf8')).toBe('ironstage 1\n')
  })

  test('is used by one at a time', async () => {
    const path = await scratch()
    using _ = await openStateFolder(path)
    await expect(openStateFolder(path)).rejects.toMatchObject({
      code: 'locked-folder',
      message: `the state folder ${path} is in use by another ironstage`,
    })
  })

  test.each([
    ['somebody else’s files', 'thesis.txt', 'x', /is not a state folder of ironstage: it holds thesis\.txt/],
    ['a newer layout', 'VERSION', 'ironstage 2\n', /its layout is 2, expected 1/],
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
    await expect(openStateFolder(join(file, 'below'))).rejects.toMatchObject({ code: 'state-folder' })
  })
})
