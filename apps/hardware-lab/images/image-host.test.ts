import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { openImageHost } from './image-host.js'

const parts = { clock: systemClock(), random: systemRandom, logger: silent }

test('images are served in ranges with their digests, at paths that cannot be guessed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-image-host-'))
  await using host = await openImageHost({ address: '127.0.0.1', ...parts })
  try {
    const bytes = randomBytes(200_000)
    const path = join(folder, 'disk.img')
    await writeFile(path, bytes)
    const digest = createHash('sha256').update(bytes).digest('hex')
    if (host.reach.kind !== 'network') throw new Error(host.reach.kind)
    const { url } = host.reach.serve({ path, digest }, 'disk.img')
    expect(url).toMatch(new RegExp(`^${host.url}/[0-9a-f]{24}/${digest}/disk.img$`))
    const part = await fetch(url, { headers: { range: 'bytes=100000-100009' } })
    expect([part.status, part.headers.get('etag')]).toEqual([206, `"${digest}"`])
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(100_000, 100_010))
    expect((await fetch(url.replace(/\/[0-9a-f]{24}\//, '/'))).status).toBe(404)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('clients that disconnect or never read block neither other clients nor the shutdown of the server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-image-host-'))
  try {
    const bytes = randomBytes(8 * 2 ** 20)
    const path = join(folder, 'disk.img')
    await writeFile(path, bytes)
    const errors: string[] = []
    const host = await openImageHost({
      ...parts,
      address: '127.0.0.1',
      logger: (level, message) => void (level === 'error' && errors.push(message)),
    })
    if (host.reach.kind !== 'network') throw new Error(host.reach.kind)
    const { url } = host.reach.serve({ path, digest: 'd'.repeat(64) }, 'disk.img')
    const { hostname, port, pathname } = new URL(url)
    const open = () =>
      new Promise<Socket>((resolve) => {
        const socket = connect(Number(port), hostname, () => {
          socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
          resolve(socket)
        })
        socket.on('error', () => {})
      })
    const idle = await Promise.all(Array.from({ length: 10 }, open))
    for (let n = 0; n < 40; n++) {
      const socket = await open()
      if (n % 2 === 0) await new Promise((resolve) => socket.once('data', resolve))
      if (n % 4 < 2) socket.resetAndDestroy()
      else socket.destroy()
    }
    const whole = await fetch(url)
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true)
    await host[Symbol.asyncDispose]()
    await Promise.all(idle.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve))))
    expect(errors).toEqual([])
  } finally {
    await rm(folder, { recursive: true })
  }
}, 20_000)

test.each([
  ['203.0.113.77', /no image can be served at 203\.0\.113\.77/],
  ['0.0.0.0:80', /hosts cannot connect to 0\.0\.0\.0/],
  ['a:b:c', /is not an address/],
  ['127.0.0.1:99999', /is not an address/],
])('--serve-image %s is refused', async (address, says) => {
  await expect(openImageHost({ address, ...parts })).rejects.toMatchObject({
    code: 'run-options',
    kind: 'usage',
    message: expect.stringMatching(says) as string,
  })
})
