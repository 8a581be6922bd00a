import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { seededRandom, sharedAbort, systemClock } from '../../base/runtime/index.js'
import { contentsOf, fileServer, sha256, type FileServer } from '../../test/kit/images/image-files.js'
import type { ImageCacheOptions } from './cached-image.js'
import { ImageCache } from './image-cache.js'

const MIB = 2 ** 20
const RAW = Buffer.concat([Buffer.alloc(3 * MIB), Buffer.from(seededRandom(1).bytes(MIB / 4)), Buffer.alloc(MIB)])
const GZ = gzipSync(RAW)
const clock = systemClock()
const { signal } = sharedAbort()

let folder: string
let server: FileServer
let logged: string[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-cache-'))
  server = await fileServer({ '/c.raw.gz': GZ })
  logged = []
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const cache = (options: Pick<ImageCacheOptions, 'as'>) =>
  ImageCache.open({
    folder: join(folder, 'cache'),
    contents: (path) => contentsOf(path, clock),
    clock,
    logger: (_level, message) => void logged.push(message),
    ...options,
  })

const known = () => ({
  url: server.url('/c.raw.gz'),
  sha256: sha256(GZ),
  signature: 'where present' as const,
})
const images = () => server.asked.filter((line) => !line.includes('.sig'))

describe.each(['fetched', 'zstd', 'raw'] as const)('an image in the cache as %s', (as) => {
  const changed = async (path: string, change: (bytes: Buffer) => Buffer) =>
    writeFile(path, change(await readFile(path)))

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['was damaged', (bytes) => (bytes.fill(bytes.at(-1)! ^ 1, bytes.length - 100), bytes)],
    ['was cut short', (bytes) => bytes.subarray(0, -1)],
    ['has grown', (bytes) => Buffer.concat([bytes, bytes.subarray(0, 1)])],
  ])('that %s is found, and fetched again', async (_, change) => {
    const { path, ...first } = await (await cache({ as })).get(known(), { signal })
    await first[Symbol.asyncDispose]()
    await changed(path, change)
    server.asked.length = 0
    // Another process, later.
    await using again = await (await cache({ as })).get(known(), { signal })
    expect(images()).toEqual(['GET /c.raw.gz'])
    const parts: Uint8Array[] = []
    for await (const part of contentsOf(again.path, clock)) parts.push(part)
    expect(sha256(Buffer.concat(parts))).toBe(sha256(RAW))
  })

  test('that was damaged is found also while another process reads it, and not recompressed', async () => {
    await using image = await (await cache({ as })).get(known(), { signal })
    await changed(image.path, (bytes) => (bytes.fill(0, bytes.length >> 1), bytes))
    await using again = await (await cache({ as: as === 'raw' ? 'zstd' : 'raw' })).get(known(), { signal })
    const parts: Uint8Array[] = []
    for await (const part of contentsOf(again.path, clock)) parts.push(part)
    expect(sha256(Buffer.concat(parts))).toBe(sha256(RAW))
  })

  test('is read once in a process as long as its file does not change', async () => {
    const all = await cache({ as })
    await using first = await all.get(known(), { signal })
    const { atimeMs } = await stat(first.path)
    await using second = await all.get(known(), { signal })
    expect((await stat(second.path)).atimeMs).toBe(atimeMs)
    await changed(first.path, (bytes) => (bytes.fill(1, bytes.length >> 1), bytes))
    await using third = await all.get(known(), { signal })
    expect(logged.filter((line) => line.includes('is damaged'))).toHaveLength(1)
    expect(third.record.sha256).toBe(sha256(GZ))
  })
})
