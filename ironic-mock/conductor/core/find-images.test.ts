import { createServer, type Server } from 'node:http'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VirtualClock } from '../../../base/runtime/index.js'
import { UPSTREAM_CONF } from './conductor-conf.js'
import { findImages } from './find-images.js'
import type { ChecksumRules, ImageChecksum } from './image-checksum.js'

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

describe('the checksum of an image that the conductor reads itself', () => {
  const bytes = Buffer.from('bytes')
  const hashed = (algorithm: string, data: Buffer = bytes) => createHash(algorithm).update(data).digest('hex')
  const WRONG = 'The supplied image checksum is invalid or does not match.'
  const NO_ALGORITHM = 'The requested image checksum algorithm cannot be loaded.'
  const plain = (value: string) => ({ value, algorithm: null, mayBeUrl: true })
  const specific = (value: string, algorithm: string | null = null) => ({ value, algorithm, mayBeUrl: false })
  const checked = async (checksum: ImageChecksum, rules: Partial<ChecksumRules> = {}) => {
    const path = join(folder, 'checked.raw')
    await writeFile(path, bytes)
    const checksums = { ...UPSTREAM_CONF, ...rules }
    const options = { digest: false, node: 'a-node', signal, checksum }
    const found = await Promise.allSettled(
      [pathToFileURL(path).href, `${base}/image`].map((url) =>
        findImages(new VirtualClock(), { allowedPaths: [folder], checksums })(url, options),
      ),
    )
    const outcomes = found.map((each) => (each.status === 'fulfilled' ? 'right' : (each.reason as Error).message))
    // The file and the download are compared in the same way, and mostly told in one word.
    return outcomes[0] === outcomes[1] ? outcomes[0] : outcomes
  }

  test.each<[string, ImageChecksum, string]>([
    ['MD5 by its length', plain(hashed('md5')), 'right'],
    ['SHA-256 by its length', plain(hashed('sha256').toUpperCase()), 'right'],
    ['SHA-512 by its length', plain(hashed('sha512')), 'right'],
    ['SHA-1, taken for an MD5', plain(hashed('sha1')), WRONG],
    ['an algorithm before a colon', plain(`sha256:${hashed('sha256')}`), 'right'],
    ['nothing behind the colon', plain('sha256:'), WRONG],
    ['a named algorithm', specific(hashed('sha384'), 'SHA384'), 'right'],
    ['a named algorithm without its name', specific(hashed('sha256')), WRONG],
    ['an algorithm that there is not', specific('00', 'crc7'), NO_ALGORITHM],
    ['a URL as the value of a named algorithm', specific('http://a.example/sums', 'sha256'), NO_ALGORITHM],
    ['another image', plain('0'.repeat(64)), WRONG],
  ])('%s', async (_, checksum, outcome) => expect(await checked(checksum)).toBe(outcome))

  test('[agent]allow_md5_checksum forbids MD5', async () => {
    expect(await checked(plain(hashed('md5')), { allowMd5Checksum: false })).toBe(NO_ALGORITHM)
    expect(await checked(specific(hashed('md5'), 'md5'), { allowMd5Checksum: false })).toEqual(['right', NO_ALGORITHM])
  })

  test('[conductor]disable_file_checksum leaves it to the agent', async () => {
    expect(await checked(plain('0'.repeat(64)), { disableFileChecksum: true })).toBe('right')
  })

  test('a URL names a file of checksums', async () => {
    const lists = createServer((request, response) => {
      const text = LISTS[request.url!.slice(1) as keyof typeof LISTS]
      response.writeHead(text === undefined ? 404 : 200).end(text)
    })
    await new Promise<void>((resolve) => lists.listen(0, '127.0.0.1', resolve))
    const at = `http://127.0.0.1:${(lists.address() as AddressInfo).port}`
    const LISTS = {
      sums: `${'0'.repeat(64)}  other\n${hashed('sha256')} *image\n${hashed('sha256')}  checked.raw\n`,
      bsd: `# sums\nSHA512 (image) = ${hashed('sha512')}\nSHA512 (checked.raw) = ${hashed('sha512')}\n`,
      alone: `${hashed('md5')}\n`,
      empty: '\n',
      page: 'nothing',
    }
    try {
      for (const name of ['sums', 'bsd', 'alone']) expect(await checked(plain(`${at}/${name}`))).toBe('right')
      const failed = `Failed to download image ${at}`
      expect(await checked(plain(`${at}/empty`))).toBe(`${failed}/empty, reason: Checksum file empty.`)
      expect(await checked(plain(`${at}/page`))).toBe(
        `${failed}/page, reason: Invalid checksum file (No valid checksum found)`,
      )
      expect(await checked(plain(`${at}/gone`))).toBe(
        `Validation of image href ${at}/gone failed, reason: Got HTTP code 404 instead of 200 in response to GET request.`,
      )
      expect(await checked(plain(`${at}/sums`), { disableChecksumFiles: true })).toBe(
        'Use of remote checksum files is not supported.',
      )
    } finally {
      lists.close()
    }
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
