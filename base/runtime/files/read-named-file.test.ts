import { execFileSync, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readNamedFile, readNamedText } from '../index.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-named-'))
})
afterAll(() => rm(folder, { recursive: true }))

const pipe = (name: string): string => {
  execFileSync('mkfifo', [join(folder, name)])
  return join(folder, name)
}

test('a file', async () => {
  await writeFile(join(folder, 'file'), 'ä'.repeat(100_000))
  expect(await readNamedText(join(folder, 'file'))).toBe('ä'.repeat(100_000))
  expect(await readNamedText('/proc/self/comm')).not.toBe('')
  expect(await readNamedFile('/dev/null')).toHaveLength(0)
})

test.each(['/dev/zero', '/dev/urandom'])('%s has no end, and is refused', async (path) => {
  await expect(readNamedFile(path, { most: 2 ** 20 })).rejects.toMatchObject({
    code: 'endless-file',
    message: `${path} has more than 1 MiB`,
  })
})

test('a pipe whose writer comes later', async () => {
  const path = pipe('later')
  const reading = readNamedText(path)
  const writer = spawn('sh', ['-c', `sleep 0.2; exec > '${path}'; printf one; sleep 0.2; printf two`])
  try {
    expect(await reading).toBe('onetwo')
  } finally {
    writer.kill()
  }
})

test('a pipe without a writer, and one whose writer hangs', async () => {
  const silent = { code: 'silent-file' }
  await expect(readNamedFile(pipe('nobody'), { silence: 200 })).rejects.toMatchObject(silent)
  const path = pipe('hangs')
  const writer = spawn('sh', ['-c', `exec > '${path}'; printf one; exec sleep 30`])
  try {
    await expect(readNamedFile(path, { silence: 500 })).rejects.toMatchObject(silent)
  } finally {
    writer.kill()
  }
})

test('a pipe without an end', async () => {
  const path = pipe('endless')
  const writer = spawn('sh', ['-c', `exec yes > '${path}'`])
  try {
    await expect(readNamedFile(path, { most: 2 ** 20 })).rejects.toMatchObject({ code: 'endless-file' })
  } finally {
    writer.kill()
  }
})

test('errors of the operating system are its own', async () => {
  await expect(readNamedFile(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(readNamedFile(folder)).rejects.toMatchObject({ code: 'EISDIR' })
})
