import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { errorChain, seededRandom, silent, systemClock, userError } from '../../base/runtime/index.js'
import { contentsOf, fileServer, page, status, type FileServer } from '../../test/kit/images/image-files.js'
import { ImageCache } from './image-cache.js'

const IMAGE = Buffer.concat([Buffer.alloc(2 ** 20), Buffer.from(seededRandom(2).bytes(200_000))])
const clock = Object.assign(systemClock(), { sleep: () => Promise.resolve() })
const { signal } = new AbortController()

interface Signer {
  publicKey: string
  armoured: Buffer
  binary: Buffer
}

async function signer(name: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKey({ userIDs: [{ name }], format: 'armored' })
  const signingKeys = await readPrivateKey({ armoredKey: privateKey })
  const message = await createMessage({ binary: new Uint8Array(IMAGE) })
  const armoured = await sign({ message, signingKeys, detached: true, format: 'armored' })
  const binary = await sign({ message, signingKeys, detached: true, format: 'binary' })
  return { publicKey, armoured: Buffer.from(armoured as string), binary: Buffer.from(binary as Uint8Array) }
}

let known: Signer
let stranger: Signer
let server: FileServer
let folder: string
beforeAll(async () => {
  ;[known, stranger] = await Promise.all([signer('Image Maker'), signer('Stranger')])
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-signed-'))
  server = await fileServer({ '/c.raw': IMAGE })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function get(signature: 'required' | 'where present', path = '/c.raw') {
  const cache = await ImageCache.open({
    folder,
    contents: (file) => contentsOf(file, clock),
    clock,
    logger: silent,
    trusted: [known.publicKey],
  })
  try {
    await using image = await cache.get({ url: server.url(path), sha256: null, signature }, { signal })
    return { signed: image.record.verified.signed?.by ?? null }
  } catch (error) {
    expect(await cache.list()).toEqual([])
    return { code: userError(error)?.code, why: errorChain(error).join(': ') }
  }
}

test.each(['armoured', 'binary'] as const)('a good %s signature identifies its signer', async (form) => {
  server.files['/c.raw.sig'] = known[form]
  expect(await get('required')).toEqual({ signed: 'Image Maker' })
  expect(server.asked).toContain('GET /c.raw.sig')
})

test("the signature's URL keeps the query of the image's", async () => {
  server.files['/c.raw.sig'] = known.binary
  expect(await get('required', '/c.raw?token=1')).toEqual({ signed: 'Image Maker' })
  expect(server.asked).toContain('GET /c.raw.sig?token=1')
})

test.each(['required', 'where present'] as const)('a signature of a changed image, %s: refused', async (signature) => {
  server.files['/c.raw.sig'] = known.binary
  server.files['/c.raw'] = Buffer.concat([IMAGE.subarray(0, -1), Buffer.from('x')])
  expect(await get(signature)).toMatchObject({ code: 'image-signature', why: expect.stringMatching(/not accepted/) })
})

test.each(['required', 'where present'] as const)('a signature by an untrusted key, %s: refused', async (signature) => {
  server.files['/c.raw.sig'] = stranger.binary
  expect(await get(signature)).toMatchObject({
    code: 'image-signature',
    why: expect.stringMatching(/by key [0-9A-F]{16}/),
  })
})

test('a file that is not a signature: refused', async () => {
  server.files['/c.raw.sig'] = Buffer.from('nonsense')
  expect(await get('where present')).toMatchObject({ code: 'image-signature' })
})

test.each<[string, () => void]>([
  ['absent', () => {}],
  ['out of reach', () => ((server.files['/c.raw.sig'] = known.binary), server.behave('/c.raw.sig', status(503)))],
])('a signature that is %s matters only when it is required', async (_, arrange) => {
  arrange()
  expect(await get('required')).toMatchObject({
    code: 'image-signature',
    why: expect.stringMatching(/there is no signature at/),
  })
  expect(await get('where present')).toEqual({ signed: null })
})

test('a web page in place of a signature is refused', async () => {
  server.files['/c.raw.sig'] = known.binary
  server.behave('/c.raw.sig', page)
  expect(await get('where present')).toMatchObject({ code: 'image-signature' })
})

test('an image cached without a signature is fetched again when a signature is required', async () => {
  expect(await get('where present')).toEqual({ signed: null })
  server.files['/c.raw.sig'] = known.binary
  expect(await get('required')).toEqual({ signed: 'Image Maker' })
})
