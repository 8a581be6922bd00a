import { afterEach, beforeEach, expect, test } from 'vitest'
import { errorChain, systemClock, userError } from '../../base/runtime/index.js'
import { fileServer, type FileServer } from '../../test/kit/images/image-files.js'
import { HttpClient } from '../../base/bytes/index.js'
import { imageOfStream } from './metal-image.js'

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(64))
const metal = (formats: object) => ({ artifacts: { metal: { release: '1', formats } } })
const METADATA = {
  stream: 'stable',
  metadata: { 'last-modified': '2026-01-02T03:04:05Z' },
  architectures: {
    x86_64: metal({
      'raw.xz': { disk: { location: 'https://h/fcos.raw.xz', signature: 'https://h/other.sig', sha256: A } },
      '4k.raw.xz': { disk: { location: 'https://h/fcos-4k.raw.xz', sha256: B } },
      pxe: { kernel: { location: 'https://h/k', sha256: B } },
    }),
    aarch64: metal({ 'raw.gz': { disk: { location: 'builds/rhcos.raw.gz', sha256: C!.toUpperCase() } } }),
    s390x: { artifacts: {} },
  },
}

let server: FileServer
beforeEach(async () => {
  server = await fileServer({
    '/s/stable.json': Buffer.from(JSON.stringify(METADATA)),
    '/s/page.json': Buffer.from('<html>'),
    '/s/bad.json': Buffer.from(
      JSON.stringify({ ...METADATA, architectures: { x86_64: metal({ 'raw.xz': { disk: {} } }) } }),
    ),
  })
})
afterEach(() => server[Symbol.asyncDispose]())

const find = (architecture: string, sectorSize = 512, path = '/s/stable.json') =>
  imageOfStream(
    new HttpClient({ clock: systemClock() }),
    { stream: server.url(path), architecture, sectorSize },
    new AbortController().signal,
  )

test.each([
  ['x86_64', 512, { url: 'https://h/fcos.raw.xz', sha256: A, signatureUrl: 'https://h/other.sig' }],
  ['x86_64', 4096, { url: 'https://h/fcos-4k.raw.xz', sha256: B }],
] as const)('the image for %s and sectors of %i bytes, with its digest', async (architecture, sectorSize, asset) => {
  expect(await find(architecture, sectorSize)).toEqual({ signature: 'where present', ...asset })
})

test('images of RHEL CoreOS are gzip and unsigned; locations may be relative to the metadata', async () => {
  expect(await find('aarch64')).toEqual({
    url: server.url('/s/builds/rhcos.raw.gz'),
    sha256: C,
    signature: 'where present',
  })
})

test.each([
  ['s390x', 512, '/s/stable.json', 'stream-image', /no metal image for s390x/],
  ['aarch64', 4096, '/s/stable.json', 'stream-image', /no image for sectors of 4096 bytes/],
  ['x86_64', 512, '/s/none.json', 'stream-unreachable', /HTTP status 404/],
  ['x86_64', 512, '/s/page.json', 'stream-metadata', /is not stream metadata/],
  ['x86_64', 512, '/s/bad.json', 'stream-metadata', /is not stream metadata/],
] as const)('%s %i %s: %s', async (architecture, sectorSize, path, code, words) => {
  const error: unknown = await find(architecture, sectorSize, path).catch((thrown: unknown) => thrown)
  expect(userError(error)?.code).toBe(code)
  expect(errorChain(error).join(': ')).toMatch(words)
})
