import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './files/temporary-folder.js'
import { importPackage, loadPackage } from './load-package.js'

const require = createRequire(import.meta.url)

/** An error as a package that was not built for this platform throws it at its users. */
const thrownBy = (message: string) => () => {
  throw new Error(message)
}

test('a package that npm has left out is named with the command that installs it', async () => {
  const sentence = /^the package libsql is not installed in full \(npm install --include=optional\); it is needed for /
  const expected = { code: 'missing-package', message: expect.stringMatching(sentence) as string }
  expect(() => loadPackage('libsql', () => require('./no-such-package.cjs') as unknown)).toThrow(
    expect.objectContaining(expected) as Error,
  )
  const name = 'ironstage-no-such-package'
  await expect(importPackage('libsql', () => import(/* @vite-ignore */ name))).rejects.toMatchObject(expected)
})

test('a package whose native code is not built, or is for another computer, is named with the command that builds it', async () => {
  const expected = {
    code: 'missing-package',
    message:
      'the package lzma-native is not built for this computer (npm rebuild lzma-native); it is needed for images and boot artifacts packed with xz',
  }
  expect(() => loadPackage('lzma-native', thrownBy('No native build was found for platform=sunos arch=x64'))).toThrow(
    expect.objectContaining(expected) as Error,
  )
  await using folder = await temporaryFolder()
  const foreign = join(folder.path, 'build', 'foreign.node')
  await mkdir(join(folder.path, 'build'))
  await writeFile(foreign, 'of another computer')
  expect(() => loadPackage('lzma-native', () => require(foreign) as unknown)).toThrow(
    expect.objectContaining(expected) as Error,
  )
})

test('other errors of a package stay as they are', () => {
  expect(() => loadPackage('ssh2', thrownBy('out of memory'))).toThrow(new Error('out of memory'))
  expect(loadPackage('ssh2', () => 7)).toBe(7)
})
