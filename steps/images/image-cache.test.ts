import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { errorChain, seededRandom, sharedAbort, userError, VirtualClock, type Clock } from '../../base/runtime/index.js'
import {
  contentsOf,
  cutAfter,
  fileDigest,
  fileServer,
  page,
  plain,
  resets,
  sha256,
  silentAfter,
  status,
  tooLong,
  tooShort,
  wellBehaved,
  type FileServer,
} from '../../test/kit/images/image-files.js'
import type { ImageAsset } from '../../targets/asset.js'
import type { ImageCacheOptions } from './cached-image.js'
import { ImageCache } from './image-cache.js'
import { tryLock } from '../../base/runtime/index.js'

const MIB = 2 ** 20
const RAW = Buffer.concat([Buffer.alloc(3 * MIB), Buffer.from(seededRandom(1).bytes(MIB / 4)), Buffer.alloc(MIB)])
const GZ = gzipSync(RAW)

let folder: string
let server: FileServer
let clock: Clock
let logged: string[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-cache-'))
  server = await fileServer({ '/c.raw.gz': GZ, '/other.raw.gz': GZ, '/c.raw': RAW })
  const virtual = new VirtualClock()
  // Waits between attempts pass at once.
  clock = { ...bound(virtual), sleep: () => Promise.resolve() }
  logged = []
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const bound = (virtual: VirtualClock): Clock => ({
  speed: virtual.speed,
  now: () => virtual.now(),
  elapsed: () => virtual.elapsed(),
  sleep: (ms, options) => virtual.sleep(ms, options),
  timer: (ms, fire, options) => virtual.timer(ms, fire, options),
  hold: (why) => virtual.hold(why),
  queueWork: (work) => virtual.queueWork(work),
})

const cache = (options: Partial<ImageCacheOptions> = {}) =>
  ImageCache.open({
    folder: join(folder, 'cache'),
    contents: (path) => contentsOf(path, clock),
    clock,
    limits: { silence: 300 },
    attempts: 3,
    logger: (_level, message) => void logged.push(message),
    ...options,
  })

const asset = (path: string, more: Partial<ImageAsset> = {}): ImageAsset => ({
  url: server.url(path),
  sha256: null,
  signature: 'where present',
  ...more,
})
const { signal } = sharedAbort()
const images = () => server.asked.filter((line) => !line.includes('.sig'))

async function failure(work: Promise<unknown>): Promise<{ code: string | undefined; chain: string }> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeDefined()
  return { code: userError(error)?.code, chain: errorChain(error).join(': ') }
}

test('an image is fetched once, and the server only asked whether it has another one', async () => {
  const first = await cache()
  {
    await using image = await first.get(asset('/c.raw.gz'), { signal })
    expect(await fileDigest(image.path)).toBe(sha256(GZ))
    expect(image.record).toMatchObject({ sha256: sha256(GZ), kind: 'gz', verified: { whole: true, signed: null } })
  }
  // Another process, later.
  await using again = await (await cache()).get(asset('/c.raw.gz'), { signal })
  expect(await fileDigest(again.path)).toBe(sha256(GZ))
  expect(images()).toHaveLength(2)
})

test('a known digest needs no server, whatever the URL', async () => {
  const images = await cache()
  await using _ = await images.get(asset('/c.raw.gz', { sha256: sha256(GZ) }), { signal })
  server.asked.length = 0
  await using again = await images.get(
    { url: 'http://nobody.invalid/x', sha256: sha256(GZ), signature: 'where present' },
    { signal },
  )
  expect(again.record.sha256).toBe(sha256(GZ))
  expect(server.asked).toEqual([])
})

test('a server without version headers sends the whole image; a changed image never counts as the old one', async () => {
  server.behave('/c.raw.gz', plain)
  const all = await cache()
  await using _ = await all.get(asset('/c.raw.gz'), { signal })
  server.files['/c.raw.gz'] = gzipSync(RAW.subarray(MIB))
  await using changed = await all.get(asset('/c.raw.gz'), { signal })
  expect(sha256(gunzipSync(await readFile(changed.path)))).toBe(sha256(RAW.subarray(MIB)))
  expect(await all.list()).toHaveLength(2)
})

test('a hundred concurrent requests fetch once, in one process and in two', async () => {
  const one = await cache()
  const other = await cache()
  const got = await Promise.all(
    Array.from({ length: 100 }, (_, index) => (index % 2 ? one : other).get(asset('/c.raw.gz'), { signal })),
  )
  expect(new Set(got.map(({ path }) => path)).size).toBe(1)
  expect(images().filter((line) => line.startsWith('GET'))).toHaveLength(2)
  for (const image of got) await image[Symbol.asyncDispose]()
})

test('a download continues when one caller stops waiting, and is aborted when all have stopped', async () => {
  server.behave('/c.raw.gz', silentAfter(1000))
  const all = await cache({ limits: { silence: 60_000 } })
  const impatient = new AbortController()
  const patient = new AbortController()
  const first = all.get(asset('/c.raw.gz'), { signal: impatient.signal })
  const second = all.get(asset('/c.raw.gz'), { signal: patient.signal })
  impatient.abort(new Error('enough'))
  await expect(first).rejects.toThrow('enough')
  patient.abort(new Error('enough of this too'))
  await expect(second).rejects.toThrow('enough of this too')
})

describe('transfers that break', () => {
  test('continue where they were, by Range', async () => {
    server.behave('/c.raw.gz', cutAfter(50_000), cutAfter(50_000), wellBehaved)
    await using image = await (await cache()).get(asset('/c.raw.gz'), { signal })
    expect(await fileDigest(image.path)).toBe(sha256(GZ))
    expect(images()[1]).toMatch(/ bytes=\d+-$/)
    expect(logged.filter((line) => line.includes('trying again')).length).toBe(2)
  })

  test('in another process too', async () => {
    server.behave('/c.raw.gz', cutAfter(50_000), status(404))
    await failure((await cache()).get(asset('/c.raw.gz'), { signal }))
    server.behave('/c.raw.gz', wellBehaved)
    server.asked.length = 0
    await using image = await (await cache()).get(asset('/c.raw.gz'), { signal })
    expect(await fileDigest(image.path)).toBe(sha256(GZ))
    expect(images()[0]).toMatch(/ bytes=[1-9]\d*-$/)
  })

  test('start again when the server has another version meanwhile', async () => {
    server.behave('/c.raw.gz', cutAfter(50_000), wellBehaved)
    const next = gzipSync(RAW.subarray(MIB))
    const started = (await cache()).get(asset('/c.raw.gz'), {
      signal,
      onProgress: () => (server.files['/c.raw.gz'] = next),
    })
    await using image = await started
    expect(await fileDigest(image.path)).toBe(sha256(next))
  })
})

test.each<[string, Parameters<FileServer['behave']>[1], string, RegExp]>([
  ['resets every time', resets, 'image-unreachable', /could not be fetched.*(reset|closed)/],
  ['falls silent', silentAfter(1000), 'image-unreachable', /beyond its first 1000 bytes.*silent/],
  ['promises more than there is', tooLong, 'image-unreachable', /could not be fetched beyond its first \d+ bytes/],
  ['promises less than there is', tooShort, 'image-damaged', /is damaged: /],
  ['sends a web page', page, 'image-is-page', /is a web page and no image/],
  ['does not have it', status(404), 'image-refused', /HTTP status 404/],
  ['wants a password', status(401), 'image-refused', /HTTP status 401/],
  ['is overloaded', status(503), 'image-unreachable', /HTTP status 503/],
])('a server that %s: the cause is reported, nothing is stored', async (_, behaviour, code, words) => {
  server.behave('/c.raw.gz', behaviour)
  const all = await cache()
  const { code: actual, chain } = await failure(all.get(asset('/c.raw.gz'), { signal }))
  expect(actual).toBe(code)
  expect(chain).toMatch(words)
  expect(await all.list()).toEqual([])
})

test('an image with another digest is refused and not stored', async () => {
  const all = await cache()
  const wanted = asset('/c.raw.gz', { sha256: 'a'.repeat(64) })
  const { code, chain } = await failure(all.get(wanted, { signal }))
  expect(code).toBe('image-digest')
  expect(chain).toContain(`its SHA-256 is ${sha256(GZ)} instead of ${'a'.repeat(64)}`)
  expect(await readdir(join(folder, 'cache/partial'))).toEqual([])
})

test('secrets in URLs are neither reported nor stored', async () => {
  server.behave('/c.raw.gz', cutAfter(50_000), wellBehaved)
  const url = server.url('/c.raw.gz?X-Signature=hush-hush').replace('//', '//me:canary@')
  const all = await cache()
  await using image = await all.get({ url, sha256: null, signature: 'where present' }, { signal })
  server.behave('/c.raw.gz', status(403))
  const { chain } = await failure(all.get({ url, sha256: null, signature: 'where present' }, { signal }))
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const reported = [chain, ...logged, JSON.stringify(image.record)]
  for (const file of files.filter((entry) => entry.isFile()))
    reported.push(file.name, (await readFile(join(file.parentPath, file.name))).toString('latin1'))
  expect(reported.join('\n')).not.toMatch(/canary|hush-hush/)
})

describe('storage as zstd', () => {
  test('recompresses once, to the same contents, and records the chain of digests', async () => {
    const all = await cache({ as: 'zstd' })
    const got = await Promise.all([
      all.get(asset('/c.raw.gz'), { signal }),
      all.get(asset('/other.raw.gz'), { signal }),
    ])
    const [{ path, record }] = got
    expect(path).toMatch(/image\.raw\.zst$/)
    expect(record).toMatchObject({
      sha256: sha256(GZ),
      size: GZ.length,
      kind: 'gz',
      transcoded: { sha256: await fileDigest(path), contents: { sha256: sha256(RAW), size: RAW.length } },
    })
    const parts: Uint8Array[] = []
    for await (const part of contentsOf(path, clock)) parts.push(part)
    expect(sha256(Buffer.concat(parts))).toBe(sha256(RAW))
    for (const image of got) await image[Symbol.asyncDispose]()
    // The fetched bytes are deleted.
    expect((await readdir(join(folder, 'cache/images', sha256(GZ)))).sort()).toEqual(['image.raw.zst', 'record.json'])
  })

  test('recompresses an image once when several URLs lead to it at the same time', async () => {
    const names = Array.from({ length: 6 }, (_, n) => `/same-${n}.raw.gz`)
    for (const name of names) server.files[name] = GZ
    const all = await cache({ as: 'zstd' })
    const got = await Promise.all(names.map((name) => all.get(asset(name), { signal })))
    expect(new Set(got.map(({ path }) => path)).size).toBe(1)
    for (const image of got) await image[Symbol.asyncDispose]()
    const [entry, ...more] = await all.list()
    expect(more).toEqual([])
    expect([entry!.record.sources.length, entry!.record.transcoded?.contents.size]).toEqual([6, RAW.length])
  })

  test('keeps an image in use until it is disposed of', async () => {
    await using before = await (await cache()).get(asset('/c.raw.gz'), { signal })
    await using after = await (await cache({ as: 'zstd' })).get(asset('/c.raw.gz'), { signal })
    expect(after.path).not.toBe(before.path)
    expect(await fileDigest(before.path)).toBe(sha256(GZ))
  })

  test('refuses an image with damaged contents', async () => {
    const broken = Buffer.from(GZ)
    broken.fill(0x55, GZ.length >> 1, (GZ.length >> 1) + 64)
    server.files['/c.raw.gz'] = broken
    const all = await cache({ as: 'zstd' })
    const { code } = await failure(all.get(asset('/c.raw.gz', { sha256: sha256(broken) }), { signal }))
    expect(code).toBe('image-damaged')
    expect(await all.list()).toEqual([])
  })
})

describe('storage as raw', () => {
  test('keeps the contents without their zeros, and records both digests', async () => {
    const all = await cache({ as: 'raw' })
    const got = await Promise.all([
      all.get(asset('/c.raw.gz'), { signal }),
      all.get(asset('/other.raw.gz'), { signal }),
    ])
    const [{ path, record }] = got
    expect(path).toMatch(/image\.raw$/)
    expect(record).toMatchObject({
      sha256: sha256(GZ),
      size: GZ.length,
      kind: 'gz',
      transcoded: { as: 'raw', contents: { sha256: sha256(RAW), size: RAW.length } },
    })
    expect(await fileDigest(path)).toBe(sha256(RAW))
    for (const image of got) await image[Symbol.asyncDispose]()
    const [entry] = await all.list()
    expect(entry!.size).toBeLessThan(RAW.length / 2)
    expect((await readdir(join(folder, 'cache/images', sha256(GZ)))).sort()).toEqual(['image.raw', 'record.json'])
  })

  test('takes the place of another form, whose contents it has, and the other way round', async () => {
    for (const as of ['zstd', 'raw', 'zstd', 'fetched', 'raw'] as const) {
      await using image = await (await cache({ as })).get(asset('/c.raw.gz'), { signal })
      const parts: Uint8Array[] = []
      for await (const part of contentsOf(image.path, clock)) parts.push(part)
      expect(sha256(Buffer.concat(parts))).toBe(sha256(RAW))
      if (as !== 'fetched') expect(image.path).toMatch(as === 'raw' ? /image\.raw$/ : /image\.raw\.zst$/)
    }
    expect(images().filter((line) => !line.endsWith('if changed'))).toHaveLength(1)
  })
})

describe('room', () => {
  test('the least recently used images are deleted, those in use stay', async () => {
    let now = 1_000_000_000
    clock = { ...clock, now: () => (now += 10_000) }
    const sizes = [3, 4, 5].map((mib) => Buffer.alloc(mib * MIB, mib))
    for (const [index, bytes] of sizes.entries()) server.files[`/${index}`] = bytes
    const all = await cache({ limit: 10 * MIB })
    await using held = await all.get(asset('/0'), { signal })
    await (await all.get(asset('/1'), { signal }))[Symbol.asyncDispose]()
    await using _ = await all.get(asset('/2'), { signal })
    const left = (await all.list()).map(({ size }) => size / MIB)
    expect(left.sort()).toEqual([3, 5])
    expect(await fileDigest(held.path)).toBe(sha256(sizes[0]!))
    expect(await all.prune(0)).toMatchObject({ images: 0, inUse: 2 })
  })

  test('pruning deletes unfinished downloads, unless one is in progress', async () => {
    server.behave('/c.raw.gz', cutAfter(50_000), status(404))
    const all = await cache()
    await failure(all.get(asset('/c.raw.gz'), { signal }))
    const [key] = await readdir(join(folder, 'cache/partial'))
    {
      using _ = await tryLock(join(folder, 'cache/locks', `url-${key}`), 'exclusive')
      expect(await all.prune()).toEqual({ images: 0, freed: 0, inUse: 0 })
    }
    const { freed, ...rest } = await all.prune()
    expect(rest).toEqual({ images: 0, inUse: 0 })
    expect(freed).toBeGreaterThan(0)
    expect(await readdir(join(folder, 'cache/partial'))).toEqual([])
  })
})

test('verifying finds images that have changed on the disk, and fetches nothing', async () => {
  const all = await cache()
  const good = await all.get(asset('/c.raw'), { signal })
  const bad = await all.get(asset('/c.raw.gz'), { signal })
  for (const image of [good, bad]) await image[Symbol.asyncDispose]()
  const bytes = Buffer.from(GZ)
  bytes[1000]! ^= 1
  await writeFile(bad.path, bytes)
  const verdicts: Record<string, boolean> = {}
  await all.verify(({ record }, whole) => void (verdicts[record.sha256] = whole), signal)
  expect(verdicts).toEqual({ [sha256(RAW)]: true, [sha256(GZ)]: false })
  expect((await all.list()).map(({ record }) => record.sha256)).toEqual([sha256(RAW)])
  await using again = await all.get(asset('/c.raw.gz'), { signal })
  expect(await fileDigest(again.path)).toBe(sha256(GZ))
})

test('a folder with other files is refused and left unchanged', async () => {
  await writeFile(join(folder, 'thesis.tex'), 'x')
  expect((await failure(cache({ folder }))).code).toBe('foreign-folder')
  expect(await readdir(folder)).toEqual(['thesis.tex'])
})
