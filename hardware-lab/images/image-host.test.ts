import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silent, systemClock, systemRandom } from '../../runtime/index.js'
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

test.each([
  ['203.0.113.77', /no image can be served at 203\.0\.113\.77/],
  ['0.0.0.0:80', /hosts cannot connect to 0\.0\.0\.0/],
  ['a:b:c', /is no address/],
  ['127.0.0.1:99999', /is no address/],
])('--serve-image %s is refused', async (address, says) => {
  await expect(openImageHost({ address, ...parts })).rejects.toMatchObject({
    ...{ code: 'run-options', kind: 'usage', message: expect.stringMatching(says) as string },
  })
})
