import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom, systemClock, systemRandom } from '../../base/runtime/index.js'
import { cutAtRandom } from '../../test/kit/cut-shell.js'
import { localShell } from './local-shell.js'
import type { LoginShell } from './login-shell.js'
import { SupervisedExecutor } from './supervised-executor.js'

const clock = systemClock()
const { signal } = new AbortController()
const plain = localShell(clock, process.env)

let place: string
let file: string
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-upload-'))
  file = join(place, 'image')
  await writeFile(
    file,
    Uint32Array.from({ length: 5 * 2 ** 20 + 123 }, (_, n) => (n * 2_654_435_761) % 2 ** 32),
  )
})
afterAll(() => rm(place, { recursive: true, force: true }))

const reaching = (shell: LoginShell, folder: string) =>
  new SupervisedExecutor({ shell, clock, random: systemRandom, folder: join(place, folder) })

test('a file arrives whole over a link that is cut, and is removed when disposed', async () => {
  const cutting = cutAtRandom(plain, { clock, random: seededRandom(5), cuts: 12 })
  await using executor = reaching(cutting, 'cut')
  const folder = join(place, 'images')
  const progress: number[] = []
  {
    await using there = await executor.upload({
      file,
      folder,
      name: "it's an image.raw.xz",
      signal,
      onProgress: (sent) => progress.push(sent),
    })
    expect(there.path).toMatch(/-it_s_an_image\.raw\.xz$/)
    expect((await readFile(there.path)).equals(await readFile(file))).toBe(true)
  }
  expect(progress.at(-1)).toBe((await readFile(file)).length)
  expect(await readdir(folder)).toEqual([])
})

test('a file that arrives damaged is refused and removed', async () => {
  const spoiling: LoginShell = {
    ...plain,
    open: (line, { stdin, ...more } = {}) => {
      const other = Buffer.from(stdin ?? [])
      if (line.includes('cat >')) other[7]! ^= 1
      return plain.open(line, { ...more, stdin: other })
    },
  }
  await using executor = reaching(spoiling, 'spoilt')
  const folder = join(place, 'spoilt-images')
  await expect(executor.upload({ file, folder, name: 'x', signal })).rejects.toThrow(/arrived damaged/)
  expect(await readdir(folder)).toEqual([])
})

test('a file that the target has no room for is not sent', async () => {
  const large = join(place, 'large')
  await writeFile(large, '')
  await truncate(large, 2 ** 43)
  await using executor = reaching(plain, 'full')
  const folder = join(place, 'full-images')
  await expect(executor.upload({ file: large, folder, name: 'x', signal })).rejects.toThrow(/has room for \d+ bytes/)
  expect(await readdir(folder)).toEqual([])
})
