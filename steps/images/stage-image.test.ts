import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { errorChain, seededRandom, silent, systemClock, userError } from '../../base/runtime/index.js'
import {
  contentsOf,
  cutAfter,
  fileServer,
  page,
  sha256,
  status,
  type Behaviour,
  type FileServer,
} from '../../test/kit/images/image-files.js'
import type { ImageAsset } from '../../targets/asset.js'
import { ImageCache } from './image-cache.js'
import { openImageServer } from './image-server.js'
import { stageFromCache, stageStreamed, type ImageReach } from './stage-image.js'

const IMAGE = gzipSync(Buffer.concat([Buffer.alloc(2 ** 20), Buffer.from(seededRandom(3).bytes(400_000))]))
const clock = Object.assign(systemClock(), { sleep: () => Promise.resolve() })
const parts = { clock, random: seededRandom(1), logger: silent }
const { signal } = new AbortController()
const byPort: ImageReach = {
  kind: 'port',
  forward: (port) => Promise.resolve({ port, [Symbol.asyncDispose]: async () => {} }),
}

let folder: string
let server: FileServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-staged-'))
  server = await fileServer({ '/c.raw.gz': IMAGE })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const asset = (more: Partial<ImageAsset> = {}): ImageAsset => ({
  url: server.url('/c.raw.gz'),
  sha256: sha256(IMAGE),
  signature: 'where present',
  ...more,
})
const cached = async (reach: ImageReach) =>
  stageFromCache(
    await ImageCache.open({ folder, contents: (path) => contentsOf(path, clock), clock, logger: silent }),
    { reach, ...parts },
  )

/** All that came, whether it was whole, and what the server had said. */
async function read(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers })
  const got: Uint8Array[] = []
  let whole = true
  try {
    for await (const part of response.body!) got.push(part as Uint8Array)
  } catch {
    whole = false
  }
  return { bytes: Buffer.concat(got), whole, status: response.status, headers: response.headers }
}

describe('an image from the cache', () => {
  test('is a file where the programs see it, by their own path', async () => {
    const stage = await cached({ kind: 'files', pathThere: (path) => path.replace(folder, '/there') })
    await using staged = await stage(asset(), { signal })
    expect(staged.from).toEqual({ kind: 'file', path: `/there/images/${sha256(IMAGE)}/image.raw.gz` })
    expect(staged.about).toMatchObject({ sha256: sha256(IMAGE), verified: { sha256: true } })
  })

  test.each<[string, ImageReach]>([
    ['do not see this host’s files', { kind: 'files', pathThere: () => null }],
    ['are on another host', byPort],
  ])('is served with ranges where they %s, only while it is staged', async (_, reach) => {
    const stage = await cached(reach)
    const staged = await stage(asset(), { signal })
    const { from } = staged
    if (from.kind !== 'url') throw new Error('a file')
    const all = await read(from.url)
    expect(all).toMatchObject({ whole: true, status: 200 })
    expect(sha256(all.bytes)).toBe(sha256(IMAGE))
    expect(Number(all.headers.get('content-length'))).toBe(IMAGE.length)
    const ranges: [string, number, string, Buffer][] = [
      ['bytes=10-19', 206, `bytes 10-19/${IMAGE.length}`, IMAGE.subarray(10, 20)],
      [
        `bytes=${IMAGE.length - 5}-`,
        206,
        `bytes ${IMAGE.length - 5}-${IMAGE.length - 1}/${IMAGE.length}`,
        IMAGE.subarray(-5),
      ],
      ['bytes=-7', 206, `bytes ${IMAGE.length - 7}-${IMAGE.length - 1}/${IMAGE.length}`, IMAGE.subarray(-7)],
      [`bytes=${IMAGE.length}-`, 416, `bytes */${IMAGE.length}`, Buffer.alloc(0)],
    ]
    for (const [range, code, contentRange, bytes] of ranges) {
      const part = await read(from.url, { range })
      expect([part.status, part.headers.get('content-range')]).toEqual([code, contentRange])
      expect(part.bytes.equals(bytes)).toBe(true)
    }
    expect((await read(from.url.replace(/\/[^/]*$/, '/other'))).status).toBe(404)
    await staged[Symbol.asyncDispose]()
    await expect(fetch(from.url)).rejects.toThrow()
  })
})

describe('streaming without a cache', () => {
  const stage = () => stageStreamed({ reach: byPort, ...parts, limits: { silence: 300 } })

  async function through(wanted: ImageAsset) {
    await using staged = await stage()(wanted, { signal })
    if (staged.from.kind !== 'url') throw new Error('a file')
    const got = await read(staged.from.url)
    const failure = staged.failure()
    return { ...got, code: userError(failure)?.code, why: failure === undefined ? '' : errorChain(failure).join(': ') }
  }

  test('delivers a good image whole, with its exact length', async () => {
    const got = await through(asset())
    expect(got).toMatchObject({ whole: true, status: 200, why: '' })
    expect(sha256(got.bytes)).toBe(sha256(IMAGE))
    expect(got.headers.get('content-length')).toBe(String(IMAGE.length))
  })

  test('never delivers the end of a bad image, in any attempt', async () => {
    const wanted = asset({ sha256: 'b'.repeat(64) })
    for (let time = 0; time < 2; time++) {
      const got = await through(wanted)
      expect(got).toMatchObject({ whole: false, code: 'image-digest' })
      expect(got.bytes.length).toBeLessThanOrEqual(IMAGE.length - 64 * 1024)
      expect(got.headers.get('content-length')).toBe(String(IMAGE.length))
    }
  })

  test.each<[string, Behaviour, string, RegExp]>([
    ['breaks off', cutAfter(100_000), 'image-unreachable', /reset|closed/],
    ['sends a page', page, 'image-refused', /how long/],
    ['refuses', status(404), 'image-refused', /404/],
  ])('reports a server that %s', async (_, behaviour, code, words) => {
    server.behave('/c.raw.gz', behaviour)
    const got = await through(asset({ sha256: null }))
    expect(got).toMatchObject({ code, why: expect.stringMatching(words) })
    expect(got.whole && got.status === 200).toBe(false)
  })

  test('withholds the end of an image with a wrong signature', async () => {
    server.files['/c.raw.gz.sig'] = Buffer.from('nonsense')
    expect(await through(asset({ sha256: null }))).toMatchObject({ status: 502, code: 'image-signature' })
  })
})

test('an image is served at its unguessable path only', async () => {
  await using images = await openImageServer(parts)
  using _ = images.serve({ kind: 'file', path: import.meta.filename, digest: 'x' }, 'image.raw')
  expect((await fetch(`http://127.0.0.1:${images.port}/image.raw`)).status).toBe(404)
})
