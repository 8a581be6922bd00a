import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silent, systemClock, systemRandom } from '../../base/runtime/index.js'
import { ARCHITECTURES, fedoraStream, rhelStream } from '../../test/kit/streams.js'
import { documentText } from './metadata-document.js'
import { findDiskArtifact } from './stream-lookup.js'
import { publishStream } from './stream-folder.js'
import { serveStreams, type StreamServer } from './stream-server.js'
import { STREAM_KIND } from './stream-metadata.js'

const clock = systemClock()
const parts = { clock, random: systemRandom, logger: silent }
let folder: string
let server: StreamServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-streams-'))
  server = await serveStreams({ folder, ...parts })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function put(path: string, bytes: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), bytes)
}
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.url}${path}`, { headers })

describe('row 33: streams are served', () => {
  test('one document, all architectures, at the place of the mirror, with the images that are there', async () => {
    const shelf = { folder: join(folder, 'dependencies/rhcos'), name: 'stream-4.8', clock }
    const published = rhelStream({ name: 'rhcos-4.8', now: '2020-03-25T04:00:00Z' })
    await publishStream(shelf, published)
    const image = new URL(findDiskArtifact(published, 'x86_64', 'metal', 'raw.gz').location).pathname
    await put(image, 'a disk image')
    for (const path of ['/dependencies/rhcos/stream-4.8.json', '/dependencies/rhcos/stream-4.8-20200325.json']) {
      const answer = await get(path)
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      const stream = STREAM_KIND.read(await answer.text(), path)
      expect(Object.keys(stream.architectures).sort()).toEqual([...ARCHITECTURES].sort())
      expect(findDiskArtifact(stream, 's390x', 'metal', 'iso').location).toMatch(
        /^https:\/\/rhcos\.mirror\.example\.org\/art\//,
      )
      const { location } = findDiskArtifact(stream, 'x86_64', 'metal', 'raw.gz')
      expect(location).toBe(`${server.url}${image}`)
      expect(await (await fetch(location)).text()).toBe('a disk image')
    }
  })

  test('a stream is served by its name; a missing one is a 404', async () => {
    await put('streams/stable.json', documentText(fedoraStream()))
    await put('next.json', documentText(fedoraStream({ stream: 'next' })))
    expect(await (await get('/streams/stable.json')).json()).toEqual(fedoraStream())
    expect(await (await get('/streams/next.json')).json()).toMatchObject({ stream: 'next' })
    for (const path of ['/streams/testing.json', '/', '/streams/..%2f..%2fetc.json', '/.hidden'])
      expect((await get(path)).status, path).toBeGreaterThanOrEqual(403)
  })

  test('locations of files in the folder point to the server, with their signatures; other locations stay', async () => {
    const { location } = findDiskArtifact(fedoraStream(), 'aarch64', 'metal', 'iso')
    const path = new URL(location).pathname
    await put('streams/stable.json', documentText(fedoraStream()))
    await put(path, 'an image')
    const stream = STREAM_KIND.read(await (await get('/streams/stable.json')).text(), 'stable')
    const here = findDiskArtifact(stream, 'aarch64', 'metal', 'iso')
    expect(here).toMatchObject({ location: `${server.url}${path}`, signature: `${server.url}${path}.sig` })
    expect(await (await fetch(here.location)).text()).toBe('an image')
    expect(findDiskArtifact(stream, 'x86_64', 'metal', 'iso')).toEqual(
      findDiskArtifact(fedoraStream(), 'x86_64', 'metal', 'iso'),
    )
  })

  test('a part of a file', async () => {
    await put('art/image.raw', '0123456789')
    const part = await get('/art/image.raw', { range: 'bytes=3-5' })
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 3-5/10', '345'])
    expect((await get('/art/image.raw', { range: 'bytes=20-' })).status).toBe(416)
  })

  test('invalid metadata is not served', async () => {
    await put('streams/bad.json', '{"stream": "bad"}')
    const answer = await get('/streams/bad.json')
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringMatching(/is not valid stream metadata/)])
  })

  test('an address in use is an error', async () => {
    const port = Number(new URL(server.url).port)
    await expect(serveStreams({ folder, ...parts, port })).rejects.toMatchObject({ code: 'stream-server' })
  })
})
