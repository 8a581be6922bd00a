import { request } from 'node:http'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { Scope, silent, systemClock, systemRandom } from '../../runtime/index.js'
import { bytesSource } from '../byte-source.js'
import { serveFiles } from './file-server.js'

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

async function asked(headers: Record<string, string>, options: { allowedHosts?: string[] } = {}) {
  const server = scope.use(
    await serveFiles({
      host: '127.0.0.1',
      port: 0,
      clock: systemClock(),
      random: systemRandom,
      logger: silent,
      find: () => ({ source: bytesSource(Buffer.from('a secret')), etag: '"1"', modified: 0, type: 'text/plain' }),
      ...options,
    }),
  )
  const call = request(`${server.url}/image`, { headers }).end()
  const [answer] = (await once(call, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }]
  let body = ''
  for await (const part of answer) body += part.toString()
  return { status: answer.statusCode, body }
}

test.each([
  ['by a name that leads here', { host: 'evil.example' }, '--allowed-host'],
  ['by a page of another server', { origin: 'http://evil.example' }, 'a web page of http://evil.example may not call'],
  ['by the image of another page', { 'sec-fetch-site': 'cross-site' }, 'a web page of another server may not call'],
])('a file is not read %s', async (_, headers, why) => {
  const { status, body } = await asked(headers)

  expect(status).toBe(403)
  expect(body).toContain(why)
  expect(body).not.toContain('a secret')
})

test('a file is read by localhost, and by a name that was named', async () => {
  expect(await asked({ host: 'localhost:8080' })).toMatchObject({ status: 200, body: 'a secret' })
  expect(await asked({ host: 'images' }, { allowedHosts: ['images'] })).toMatchObject({ status: 200 })
})
