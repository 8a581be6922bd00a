import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { secretsOnCommandLine, withSecretsOfFiles } from './secret-options.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-secrets-'))
})

async function file(text: string): Promise<string> {
  const path = join(folder, `secret-${Buffer.from(text).toString('hex')}`)
  await writeFile(path, text)
  return path
}

test.each([
  ['bmc-password', 'bmc-password-file'],
  ['token', 'token-file'],
])('--%s is read from the file of --%s', async (name, fileName) => {
  expect(await withSecretsOfFiles({ [fileName]: await file('se cret\n') })).toMatchObject({ [name]: 'se cret' })
})

test.each(['', '\n', 'two\nlines\n'])('a file with %j is refused', async (text) => {
  const path = await file(text)
  await expect(withSecretsOfFiles({ 'bmc-password-file': path })).rejects.toThrow(`${path} has no password`)
})

test('a secret that is named twice is refused, and so is a file that is not there', async () => {
  const path = await file('a')
  await expect(withSecretsOfFiles({ 'bmc-password': 'b', 'bmc-password-file': path })).rejects.toThrow(
    'the same secret',
  )
  await expect(withSecretsOfFiles({ 'token-file': '/nosuch/file' })).rejects.toThrow('/nosuch/file')
})

test('a secret on the command line is warned of, one in a file is not', () => {
  expect(secretsOnCommandLine({ 'bmc-password': 'x', port: '1' })).toEqual([
    'every user of this host can read --bmc-password in the list of processes: use --bmc-password-file or IRONSTAGE_BMC_PASSWORD',
  ])
  expect(secretsOnCommandLine({ 'bmc-password-file': 'x' })).toEqual([])
})
