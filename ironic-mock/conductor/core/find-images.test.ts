import { createServer, type Server } from 'node:http'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VirtualClock } from '../../../base/runtime/index.js'
import { findImages } from './find-images.js'

const signal = new AbortController().signal
const find = (url: string, digest = false, allowedPaths: readonly string[] = [folder, '/nosuch', '/proc', '/tmp']) =>
  findImages(new VirtualClock(), { allowedPaths })(url, { digest, node: 'a-node', signal })

let server: Server
let base: string
let folder: string
const asked: string[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (request.url === '/moved') response.writeHead(302, { location: '/image' }).end()
    else response.writeHead(request.url === '/image' ? 200 : 404).end('bytes')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  folder = await mkdtemp(join(tmpdir(), 'ironstage-test-'))
})
afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true, force: true })
})

describe('an image behind http', () => {
  test('is asked of a proxy, where there is one for its host', async () => {
    asked.length = 0
    const through = findImages(new VirtualClock(), { proxies: { http: base, no: 'near.example' } })
    const check = (url: string) => through(url, { digest: false, node: 'a-node', signal })
    // The proxy here knows only paths, so that a whole URL is none of its own.
    await expect(check('http://far.example/image')).rejects.toThrow('Got HTTP code 404')
    expect(asked).toEqual(['HEAD http://far.example/image'])
  })

  test('is requested by HEAD, and redirects are followed', async () => {
    asked.length = 0
    expect(await find(`${base}/image`)).toEqual({ url: `${base}/image`, format: null, sha256: null })
    expect(await find(`${base}/moved`)).toEqual({ url: `${base}/image`, format: null, sha256: null })
    expect(asked).toEqual(['HEAD /image', 'HEAD /moved', 'HEAD /image'])
  })

  test('is refused when the server answers 404 or does not answer', async () => {
    await expect(find(`${base}/nosuch`)).rejects.toThrow(
      `Validation of image href ${base}/nosuch failed, reason: Got HTTP code 404 instead of 200 in response to HEAD request.`,
    )
    await expect(find('http://127.0.0.1:1/i')).rejects.toThrow(
      /^Validation of image href http:\/\/127\.0\.0\.1:1\/i failed, reason: connection refused: nothing listens at 127\.0\.0\.1:1$/,
    )
  })
})

describe('an image in a file', () => {
  test.each([
    ['raw', Buffer.from('anything')],
    ['raw', Buffer.alloc(0)],
    ['qcow2', Buffer.from('514649fb00000003', 'hex')],
  ])('is recognised as %s', async (format, bytes) => {
    const path = join(folder, 'image file')
    await writeFile(path, bytes)
    const url = pathToFileURL(path).href
    expect(await find(url)).toEqual({ url, format, sha256: null })
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    expect(await find(url, true)).toEqual({ url, format, sha256 })
  })

  test.each([
    ['file:///nosuch/image', 'Specified image file not found.'],
    ['file:///etc/passwd', 'Security: The path /etc is not permitted in file URLs'],
    ['file:///tmp/../proc/version', 'Security: The path /proc is not permitted in file URLs'],
  ])('%s is refused with the reason', async (url, reason) => {
    await expect(find(url)).rejects.toThrow(`Validation of image href ${url} failed, reason: ${reason}`)
  })
})

describe('a file outside of [conductor]file_url_allowed_paths', () => {
  let allowed: string
  let secret: string
  beforeAll(async () => {
    allowed = join(folder, 'images')
    secret = join(folder, 'secret.raw')
    await mkdir(join(folder, 'images-of-others'))
    await mkdir(allowed)
    await writeFile(secret, 'a secret')
    await writeFile(join(folder, 'images-of-others/a.raw'), 'a secret')
    await writeFile(join(allowed, 'a.raw'), 'an image')
    await symlink(secret, join(allowed, 'link.raw'))
    await symlink(folder, join(allowed, 'above'))
    await symlink('/nosuch', join(allowed, 'dangling'))
  })

  const refused = (url: string, allowedPaths: readonly string[] = [allowed]) =>
    find(url, true, allowedPaths).then(
      (found) => `taken: ${JSON.stringify(found)}`,
      (error: unknown) => (error as Error).message.replace(/^.*reason: /, ''),
    )

  test.each([
    ['by its name', () => `file://${secret}`],
    ['in capitals', () => `FILE://${secret}`],
    ['after a blank', () => ` file://${secret}`],
    ['percent-encoded', () => `file://${allowed}/%2e%2e/secret.raw`],
    ['with encoded slashes', () => `file://${allowed}%2f..%2fsecret.raw`],
    ['with ..', () => `file://${allowed}/../secret.raw`],
    ['behind a link', () => `file://${allowed}/link.raw`],
    ['behind a link to a folder', () => `file://${allowed}/above/secret.raw`],
    ['in a folder whose name begins alike', () => `file://${folder}/images-of-others/a.raw`],
    ['that is the folder itself, by a link', () => `file://${allowed}/above`],
  ])('is refused without its digest: %s', async (_, url) => {
    expect(await refused(url())).toMatch(/^Security: Path .* is not allowed for image source file URLs$/)
  })

  test('is refused where no folder is allowed, and by default everywhere but below /var/lib/ironic', async () => {
    const url = `file://${allowed}/a.raw`
    expect(await refused(url, [])).toMatch(/^Security: Path/)
    await expect(findImages(new VirtualClock())(url, { digest: true, node: 'n', signal })).rejects.toThrow(
      `Security: Path ${allowed}/a.raw is not allowed`,
    )
  })

  test.each([
    [
      'of another host',
      () => `file://evil.example${allowed}/a.raw`,
      'Security: the file URL names the host evil.example',
    ],
    ['that is no text', () => `file://${allowed}/%ff`, 'Security: the file URL cannot be read'],
    ['with a zero byte', () => `file://${allowed}/a.raw%00`, 'Security: the file URL cannot be read'],
    ['behind a link to nothing', () => `file://${allowed}/dangling`, 'Specified image file not found.'],
    ['that is a folder', () => `file://${allowed}`, 'Specified image file not found.'],
    [
      'below /etc behind an allowed /',
      () => 'file:///etc/passwd',
      'Security: The path /etc is not permitted in file URLs',
    ],
  ])('or a URL %s is refused', async (_, url, why) => {
    expect(await refused(url(), [allowed, '/'])).toBe(why)
  })

  test('leaves those in it', async () => {
    expect(await find(`file://${allowed}/a.raw`, false, [allowed])).toMatchObject({ format: 'raw' })
    expect(await find(`file://localhost${allowed}/a.raw`, false, [allowed])).toMatchObject({ format: 'raw' })
  })
})
