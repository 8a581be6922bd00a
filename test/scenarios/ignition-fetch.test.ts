import { afterEach, expect, test } from 'vitest'
import { selfSigned } from '../../agent/index.js'
import { IgnitionLog } from '../../machine/ignition/ignition-log.js'
import { proxyFor } from '../../base/bytes/index.js'
import { proxiesOf } from '../../machine/ignition/http-request.js'
import { Resources } from '../../machine/ignition/ignition-resources.js'
import { Probe, systemClock, systemRandom } from '../../base/runtime/index.js'
import { ServersOfTest } from '../kit/servers-of-test.js'

const servers = new ServersOfTest()
afterEach(() => servers.close())
const serve: ServersOfTest['serve'] = (...wanted) => servers.serve(...wanted)

function fetcher(signal = new AbortController().signal) {
  const journal: string[] = []
  const log = new IgnitionLog((_, message) => journal.push(message))
  return { journal, resources: new Resources({ machine: 'm1', clock: systemClock(), probe: new Probe(), signal, log }) }
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

test('redirects are followed, and the headers of the first request stay with it', async () => {
  const seen: (string | undefined)[] = []
  const port = await serve((request, response) => {
    seen.push(request.headers.authorization)
    if (request.url === '/a') response.writeHead(302, { location: '/b' }).end()
    else response.end('there')
  })
  const { resources, journal } = fetcher()
  const httpHeaders = [{ name: 'Authorization', value: 'x' }]
  expect(text(await resources.bytes({ source: `http://127.0.0.1:${port}/a`, httpHeaders }))).toBe('there')
  expect(seen).toEqual(['x', undefined])
  expect(journal).toEqual([`GET http://127.0.0.1:${port}/a: attempt #1`, 'GET result: OK'])
})

test.each([
  [404, 'resource not found'],
  [403, 'failed to fetch resource'],
])('an answer of %d is final', async (status, sentence) => {
  const port = await serve((_, response) => response.writeHead(status).end())
  await expect(fetcher().resources.bytes({ source: `http://127.0.0.1:${port}/` })).rejects.toThrow(sentence)
})

test('an authority of the config is believed, and without it nobody is', async () => {
  const { key, certificate } = await selfSigned({
    hostname: 'ca.example',
    address: '127.0.0.1',
    random: systemRandom,
    clock: systemClock(),
  })
  const port = await serve((_, response) => response.end('secret'), { key, cert: certificate })
  const source = `https://127.0.0.1:${port}/`
  const without = fetcher()
  await without.resources.configure({ timeouts: { httpTotal: 1 } })
  await expect(without.resources.bytes({ source })).rejects.toThrow('unable to fetch resource in time')
  expect(without.journal.join('\n')).toContain('tls: failed to verify certificate: x509')

  const having = fetcher()
  const authority = { source: `data:;base64,${Buffer.from(certificate).toString('base64')}` }
  await having.resources.configure({ security: { tls: { certificateAuthorities: [authority] } } })
  expect(text(await having.resources.bytes({ source }))).toBe('secret')
  expect(having.journal[0]).toMatch(/^Adding ".*" to list of CAs$/)
})

test('a silent server is given up after the time that the config gives it', async () => {
  const port = await serve(() => {})
  const { resources, journal } = fetcher()
  await resources.configure({ timeouts: { httpResponseHeaders: 1, httpTotal: 1 } })
  await expect(resources.bytes({ source: `http://127.0.0.1:${port}/` })).rejects.toThrow('in time')
  expect(journal[1]).toContain('net/http: timeout awaiting response headers')
})

test('requests by a proxy reach it', async () => {
  const asked: string[] = []
  const port = await serve((request, response) => {
    asked.push(request.url!)
    response.end('by proxy')
  })
  const { resources } = fetcher()
  await resources.configure({ proxy: { httpProxy: `http://127.0.0.1:${port}` } })
  expect(text(await resources.bytes({ source: 'http://far.example/x' }))).toBe('by proxy')
  expect(asked).toHaveLength(1)
})

test('schemes that are not for machines like this', async () => {
  for (const source of ['tftp://x/y', 's3://b/k', 'gs://b/k'])
    await expect(fetcher().resources.bytes({ source })).rejects.toThrow('unsupported source scheme')
})

const PROXY = { httpProxy: 'http://p:1', httpsProxy: 'http://s:2' }
test.each([
  ['http://a.example/', [], 'http://p:1'],
  ['https://a.example/', [], 'http://s:2'],
  ['http://localhost:8080/', [], undefined],
  ['http://127.1.2.3/', [], undefined],
  ['http://[::1]/', [], undefined],
  ['http://a.example/', ['*'], undefined],
  ['http://a.example/', ['example'], undefined],
  ['http://a.example/', ['a.example'], undefined],
  ['http://example/', ['.example'], 'http://p:1'],
  ['http://b.a.example/', ['.a.example'], undefined],
  ['http://ba.example/', ['a.example'], 'http://p:1'],
  ['http://a.example:81/', ['a.example:80'], 'http://p:1'],
  ['http://a.example/', ['a.example:80'], undefined],
  ['http://10.1.2.3/', ['10.0.0.0/8'], undefined],
  ['http://11.1.2.3/', ['10.0.0.0/8'], 'http://p:1'],
  ['http://10.1.2.3/', ['10.1.2.3'], undefined],
  ['http://[fd00::1]/', ['fd00::/8'], undefined],
])('%s without %j goes through %s', (url, noProxy, proxy) => {
  expect(proxyFor(url, proxiesOf({ ...PROXY, noProxy }))).toBe(proxy)
})
