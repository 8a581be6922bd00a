import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock, temporaryFolder } from '../runtime/index.js'
import { digestOfFile, readParts, sha256OfParts } from './file-digest.js'
import { sha256Hex } from './sha256.js'

const clock = systemClock()
const bytes = Buffer.alloc(2 ** 20 + 5, 'ironstage')

test('the digest of a file is that of its bytes, with any hash', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'image')
  await writeFile(path, bytes)
  expect(await digestOfFile(path, clock)).toBe(sha256Hex(bytes))
  expect(await digestOfFile(path, clock, { algorithm: 'md5' })).toMatch(/^[0-9a-f]{32}$/)
  const parts: number[] = []
  await readParts(path, 2 ** 20, undefined, (part) => void parts.push(part.length))
  expect(parts).toEqual([2 ** 20, 5])
})

test('the digest of parts is that of the whole', async () => {
  async function* parts() {
    yield* [bytes.subarray(0, 7), bytes.subarray(7)]
  }
  expect(await sha256OfParts(parts())).toBe(sha256Hex(bytes))
})

test('a missing file is refused with its code, and an abort with its reason', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'image')
  await expect(digestOfFile(path, clock)).rejects.toMatchObject({ code: 'ENOENT' })
  await writeFile(path, bytes)
  const reason = new Error('enough')
  await expect(digestOfFile(path, clock, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})
