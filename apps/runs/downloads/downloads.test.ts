import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  documentText,
  imageFormat,
  streamDisk,
  type StreamArtifact,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { errorChain, seededRandom, silent, systemClock, userError } from '../../../base/runtime/index.js'
import { cutAfter, fileServer, sha256, wellBehaved, type FileServer } from '../../../test/kit/images/image-files.js'
import { published, type Published } from '../../../test/kit/published.js'
import { downloadArtifacts, type ArtifactDownloadOptions } from './downloads.js'
import { openStream, type StreamRequest } from './stream-source.js'

const clock = Object.assign(systemClock(), { sleep: () => Promise.resolve() })
const { signal } = new AbortController()
const RAW = Buffer.concat([Buffer.alloc(2 ** 20), Buffer.from(seededRandom(3).bytes(300_000))])
const GZ = gzipSync(RAW)
const CONTENTS = {
  metal: { bytes: GZ, inside: RAW },
  'live-iso': { bytes: Buffer.from('a live system '.repeat(100)) },
  'live-kernel': { bytes: Buffer.from('kernel') },
  'live-initramfs': { bytes: Buffer.from('initramfs') },
  'live-rootfs': { bytes: Buffer.from('root filesystem') },
}

let home: string
let mirror: FileServer
/** Original server of the files. A request to it has bypassed the mirror. */
let origin: FileServer
let build: Published
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ironstage-download-'))
  origin = await fileServer({})
  build = published(CONTENTS, { baseUrl: `${origin.url('')}/prod/streams` })
  Object.assign(origin.files, build.files)
  mirror = await fileServer({ ...build.files, '/streams/rhcos-4.22.json': Buffer.from(documentText(build.stream)) })
})
afterEach(async () => {
  for (const server of [mirror, origin]) await server[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

const into = () => join(home, 'here')
const download = (artifacts: readonly StreamArtifact[], more: Partial<ArtifactDownloadOptions> = {}) =>
  downloadArtifacts(artifacts, {
    folder: into(),
    cache: { folder: join(home, 'cache'), limits: { silence: 300 }, attempts: 3 },
    clock,
    logger: silent,
    signal,
    ...more,
  })
const open = (request: StreamRequest): Promise<StreamMetadata> =>
  openStream(request, { folder: join(home, 'streams'), fetching: { limits: { silence: 300 } }, clock, signal })
const raw = () => streamDisk(build.stream, 'x86_64', 'metal', 'raw.gz')
const failure = async (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: unknown) => ({ code: userError(error)?.code, why: errorChain(error).join(': ') }),
  )

describe('row 6: the same checksum check for the origin and for a mirror', () => {
  test('directly: the files of a network boot get their own names', async () => {
    const files = Object.values(imageFormat(build.stream, 'x86_64', 'metal', 'pxe'))
    const done = await download(files)
    expect(done.map(({ sha256: found }) => found)).toEqual(files.map((file) => file.sha256))
    expect((await readdir(into())).sort()).toEqual(
      ['live-initramfs.x86_64.img', 'live-kernel.x86_64', 'live-rootfs.x86_64.img'].map(
        (name) => `rhcos-10.2.20260715-0-${name}`,
      ),
    )
    expect(origin.asked.length).toBeGreaterThan(0)
  })

  test('disconnected: stream and files come from the mirror alone', async () => {
    const reach = { mirror: mirror.url('') }
    const stream = await open({ stream: 'rhcos-4.22', ...reach })
    expect(stream).toEqual(build.stream)
    const [done] = await download([streamDisk(stream, 'x86_64', 'metal', 'iso')], reach)
    expect(await readFile(done!.path)).toEqual(CONTENTS['live-iso'].bytes)
    expect(origin.asked).toEqual([])
    expect(mirror.asked.filter((line) => !line.endsWith('.sig'))).toEqual([
      'GET /streams/rhcos-4.22.json',
      expect.stringMatching(/^GET \/prod\/streams\/rhel-10\.2\/builds\/.*-live-iso\.x86_64\.iso$/) as string,
    ])
  })

  test('a mirror that redirects elsewhere is refused before another server is asked', async () => {
    const path = new URL(raw().location).pathname
    mirror.behave(path, (_, response) => void response.writeHead(302, { location: origin.url(path) }).end())
    expect(await failure(download([raw()], { mirror: mirror.url('') }))).toEqual({
      code: 'outside-mirror',
      why: expect.stringMatching(/^a file of http:\/\/127\S+ is needed, which is not on the mirror/) as string,
    })
    expect(origin.asked).toEqual([])
  })

  test('a mirror below a path has its files below it, and other paths of its host are refused', async () => {
    const below = `${mirror.url('')}/team`
    for (const [path, bytes] of Object.entries(build.files)) mirror.files[`/team${path}`] = bytes
    expect((await download([raw()], { mirror: below }))[0]!.sha256).toBe(raw().sha256)
    const path = new URL(raw().location).pathname
    mirror.behave(`/team${path}`, (_, response) => void response.writeHead(302, { location: path }).end())
    const elsewhere = { folder: join(home, 'cache2'), limits: { silence: 300 } }
    expect(
      await failure(download([raw()], { mirror: below, folder: join(home, 'x'), cache: elsewhere })),
    ).toMatchObject({
      code: 'outside-mirror',
    })
  })
})

describe('row 36: downloads', () => {
  test('takes unsigned files of RHEL CoreOS by their digest', async () => {
    expect(await download([raw()])).toEqual([
      {
        path: join(into(), 'rhcos-10.2.20260715-0-metal.x86_64.raw.gz'),
        sha256: sha256(GZ),
        signedBy: null,
        already: false,
      },
    ])
  })

  test('decompresses, and checks the digest of the decompressed file', async () => {
    const [done] = await download([raw()], { decompress: true })
    expect(done).toMatchObject({ path: join(into(), 'rhcos-10.2.20260715-0-metal.x86_64.raw'), sha256: sha256(RAW) })
    expect(await readFile(done!.path)).toEqual(RAW)
    const wrong = { ...raw(), 'uncompressed-sha256': 'a'.repeat(64) }
    await rm(done!.path)
    expect(await failure(download([wrong], { decompress: true }))).toMatchObject({ code: 'image-digest' })
    expect(await readdir(into())).toEqual([])
  })

  test('a connection that breaks is resumed', async () => {
    const path = new URL(raw().location).pathname
    origin.behave(path, cutAfter(100_000), wellBehaved)
    expect((await download([raw()]))[0]!.sha256).toBe(sha256(GZ))
    expect(origin.asked.filter((line) => line.includes(path) && !line.includes('.sig'))).toEqual([
      `GET ${path}`,
      expect.stringMatching(/ bytes=\d+-$/) as string,
    ])
  })

  test('a complete file is left unchanged, and a changed one is replaced', async () => {
    const path = (await download([raw()]))[0]!.path
    expect((await download([raw()]))[0]).toMatchObject({ already: true })
    await writeFile(path, 'something else')
    expect((await download([raw()]))[0]).toMatchObject({ already: false })
    expect(sha256(await readFile(path))).toBe(raw().sha256)
  })

  test('bytes that differ from the metadata are not stored anywhere', async () => {
    const path = new URL(raw().location).pathname
    origin.files[path] = Buffer.concat([GZ.subarray(0, -1), Buffer.from([1])])
    expect(await failure(download([raw()]))).toMatchObject({ code: 'image-digest' })
    expect(await readdir(into()).catch(() => [])).toEqual([])
  })

  test('a wrong digest in the middle of several files leaves only the complete files', async () => {
    const { kernel, initramfs, rootfs } = imageFormat(build.stream, 'x86_64', 'metal', 'pxe')
    origin.files[new URL(initramfs!.location).pathname] = Buffer.from('something else')
    expect(await failure(download([kernel!, initramfs!, rootfs!]))).toMatchObject({ code: 'image-digest' })
    expect(await readdir(into())).toEqual(['rhcos-10.2.20260715-0-live-kernel.x86_64'])
  })

  test('offline: files that were fetched once are used without a request', async () => {
    const request = { stream: 'rhcos-4.22', streamBaseUrl: mirror.url('/streams') }
    await download([streamDisk(await open(request), 'x86_64', 'metal', 'iso')])
    const asked = mirror.asked.length + origin.asked.length
    const stream = await open({ ...request, offline: true })
    const [again] = await download([streamDisk(stream, 'x86_64', 'metal', 'iso')], {
      offline: true,
      folder: join(home, 'x'),
    })
    expect(again).toMatchObject({ already: false })
    expect(await failure(download([raw()], { offline: true }))).toMatchObject({ code: 'offline' })
    expect(await failure(open({ stream: 'other', streamBaseUrl: mirror.url('/'), offline: true }))).toMatchObject({
      code: 'offline',
    })
    expect(mirror.asked.length + origin.asked.length).toBe(asked)
  })

  test('files of another architecture than this host’s', async () => {
    const other = published(CONTENTS, { architecture: 's390x', baseUrl: `${origin.url('')}/prod/streams` })
    Object.assign(origin.files, other.files)
    const [done] = await download([streamDisk(other.stream, 's390x', 'metal', 'iso')])
    expect(done!.path).toMatch(/live-iso\.s390x\.iso$/)
  })
})

describe('row 11: signed metadata of Fedora CoreOS', () => {
  let key: { publicKey: string; sign: (bytes: Buffer) => Promise<Buffer> }
  beforeAll(async () => {
    const { privateKey, publicKey } = await generateKey({ userIDs: [{ name: 'Publisher' }], format: 'armored' })
    const signingKeys = await readPrivateKey({ armoredKey: privateKey })
    key = {
      publicKey,
      async sign(bytes) {
        const message = await createMessage({ binary: new Uint8Array(bytes) })
        return Buffer.from((await sign({ message, signingKeys, detached: true, format: 'binary' })) as Uint8Array)
      },
    }
  })
  const signed = () => {
    const of = published(CONTENTS, { baseUrl: `${origin.url('')}/prod/streams`, signatures: true })
    return streamDisk(of.stream, 'x86_64', 'metal', 'iso')
  }
  const trusting = (more: Partial<ArtifactDownloadOptions> = {}) =>
    download([signed()], {
      cache: { folder: join(home, 'cache'), limits: { silence: 300 }, attempts: 2, trusted: [key.publicKey] },
      ...more,
    })

  test('a good signature names the signer', async () => {
    origin.files[new URL(signed().signature!).pathname] = await key.sign(CONTENTS['live-iso'].bytes)
    expect(await trusting()).toMatchObject([{ signedBy: 'Publisher' }])
  })
  test('a missing signature is refused, unless that is allowed', async () => {
    expect(await failure(trusting())).toMatchObject({ code: 'image-signature' })
    expect(await trusting({ insecure: true })).toMatchObject([{ signedBy: null }])
  })
  test('a signature of another file is refused even then', async () => {
    origin.files[new URL(signed().signature!).pathname] = await key.sign(GZ)
    expect(await failure(trusting())).toMatchObject({ code: 'image-signature' })
    expect(await failure(trusting({ insecure: true }))).toMatchObject({ code: 'image-signature' })
  })
})

describe('bad metadata', () => {
  const served = (text: string) => {
    mirror.files['/streams/bad.json'] = Buffer.from(text)
    return open({ stream: 'bad', streamBaseUrl: mirror.url('/streams/') })
  }
  test.each([
    ['<html>', 'metadata-json'],
    ['{"stream": "x"}', 'metadata-schema'],
  ])('%s is refused with %s', async (text, code) => {
    expect(await failure(served(text))).toMatchObject({ code })
  })
  test('a missing stream is refused', async () => {
    expect(await failure(open({ stream: 'gone', streamBaseUrl: mirror.url('/streams/') }))).toEqual({
      code: 'stream-unreachable',
      why: expect.stringMatching(/gone\.json could not be fetched: HTTP status 404/) as string,
    })
  })
  test('a stream that goes back in time is refused, and the cached one stays', async () => {
    await served(documentText(build.stream))
    const old = { ...build.stream, metadata: { 'last-modified': '2026-07-01T00:00:00Z' } }
    expect(await failure(served(documentText(old)))).toMatchObject({ code: 'stream-back-in-time' })
    const request = { stream: 'bad', streamBaseUrl: mirror.url('/streams/'), offline: true }
    expect(await open(request)).toEqual(build.stream)
  })
  test('http from another host is refused without --insecure', async () => {
    const away = { ...raw(), location: 'http://builds.example.org/x.iso' }
    expect(await failure(download([away]))).toEqual({
      code: 'http-refused',
      why: 'http://builds.example.org uses http, but https is required',
    })
    expect(await failure(open({ stream: 'http://builds.example.org/s.json' }))).toMatchObject({ code: 'http-refused' })
  })
  test('streams of a ConfigMap file are selected by name', async () => {
    const path = join(home, 'map.yaml')
    await writeFile(path, `kind: ConfigMap\ndata:\n  stream: '${JSON.stringify(build.stream)}'\n`)
    expect(await open({ stream: path })).toEqual(build.stream)
    expect(await failure(open({ stream: `${path}#rhel-9` }))).toMatchObject({ code: 'stream-name' })
    expect(await failure(open({ stream: './nowhere.json' }))).toMatchObject({ code: 'metadata-file' })
  })
})
