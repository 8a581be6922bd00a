import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { seededRandom, silent, systemClock, userError } from '../../base/runtime/index.js'
import type { ImageAsset } from '../../targets/index.js'
import type { ImageReach } from '../../steps/index.js'
import { fileServer, sha256, type FileServer } from '../../test/kit/images/image-files.js'
import { readSmallImage } from '../../test/kit/installer.js'
import { realStaging } from './image-staging.js'

const IMAGE = readSmallImage()
const { signal } = new AbortController()
const files: ImageReach = { kind: 'files', pathThere: (path) => path }
const port: ImageReach = {
  kind: 'port',
  forward: (at) => Promise.resolve({ port: at, [Symbol.asyncDispose]: async () => {} }),
}

let folder: string
let server: FileServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-real-stage-'))
  const corrupt = Buffer.from(IMAGE)
  corrupt.fill(0x55, corrupt.length >> 1, (corrupt.length >> 1) + 64)
  server = await fileServer({ '/good.raw.xz': IMAGE, '/corrupt.raw.xz': corrupt })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const stageOf = (reach: ImageReach) =>
  realStaging(reach, { folder, attempts: 1 }, { clock: systemClock(), random: seededRandom(1), logger: silent })
const asset = (url: string, digest: string | null = null): ImageAsset => ({
  url,
  sha256: digest,
  signature: 'where present',
})

test.each([
  ['a local target', files],
  ['a machine behind SSH', port],
])('an image from a loopback URL is checked before %s gets it', async (_, reach) => {
  const stage = stageOf(reach)
  const corrupt = stage(asset(server.url('/corrupt.raw.xz')), { signal })
  expect(userError(await corrupt.catch((error: unknown) => error))?.code).toBe('image-damaged')
  const other = stage(asset(server.url('/good.raw.xz'), 'a'.repeat(64)), { signal })
  expect(userError(await other.catch((error: unknown) => error))?.code).toBe('image-digest')
  await using good = await stage(asset(server.url('/good.raw.xz'), sha256(IMAGE)), { signal })
  expect(good?.about).toMatchObject({ sha256: sha256(IMAGE) })
})

test('when nothing listens on this host, a machine behind SSH uses its own loopback interface, a local target fails', async () => {
  const nowhere = asset('http://127.0.0.1:1/x.raw.xz')
  expect(await stageOf(port)(nowhere, { signal })).toBeNull()
  await expect(stageOf(port)({ ...nowhere, sha256: 'a'.repeat(64) }, { signal })).rejects.toThrow(
    'could not be fetched',
  )
  await expect(stageOf(files)(nowhere, { signal })).rejects.toThrow('could not be fetched')
})
