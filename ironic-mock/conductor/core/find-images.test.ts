import { createServer, type Server } from 'node:http'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VirtualClock } from '../../../runtime/index.js'
import { findImages } from './find-images.js'

const signal = new AbortController().signal
const find = (url: string, digest = false) => findImages(new VirtualClock())(url, { digest, node: 'a-node', signal })

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
  ])('is %s', async (format, bytes) => {
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
  ])('%s is refused', async (url, reason) => {
    await expect(find(url)).rejects.toThrow(`Validation of image href ${url} failed, reason: ${reason}`)
  })
})
