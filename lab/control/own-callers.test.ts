import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { WireResponse } from '../../wire/index.js'
import { ownCallers, type OwnCallersOptions } from './own-callers.js'

const asksPassword = { status: 401, headers: {}, body: 'a password' }

/** The refusal of a call; undefined where it is carried out. */
function ask(
  headers: Record<string, string>,
  { scheme = 'http', ...options }: Partial<OwnCallersOptions> & { scheme?: string } = {},
): Promise<WireResponse | undefined> {
  const base = headers['host'] === undefined ? `${scheme}://ironic.invalid` : `${scheme}://${headers['host']}`
  const guard = ownCallers({ host: '127.0.0.1', ...options })
  return guard({ method: 'POST', target: '/_lab/machines/machine-4/reimage', headers, base })
}

const refused = (code: string) => ({ status: 403, body: expect.stringContaining(`"code":"${code}"`) as string })

describe('a web page', () => {
  test.each([
    ['of another server', { host: '127.0.0.1:6385', origin: 'http://evil.example' }],
    ['of another port of this host', { host: '127.0.0.1:6385', origin: 'http://127.0.0.1:3000' }],
    ['of this host by another name', { host: '127.0.0.1:6385', origin: 'http://localhost:6385' }],
    ['of another scheme', { host: 'localhost:6385', origin: 'https://localhost:6385' }],
    ['without an origin of its own', { host: 'localhost:6385', origin: 'null' }],
    ['whose origin is no URL', { host: 'localhost:6385', origin: 'localhost:6385, http://localhost:6385' }],
  ])('%s is refused, with a password too', async (_, headers) => {
    expect(await ask(headers)).toMatchObject(refused('foreign-page'))
    const guard = () => Promise.resolve(undefined)
    expect(await ask(headers, { guard })).toMatchObject(refused('foreign-page'))
    expect(await ask(headers, { host: '0.0.0.0', guard })).toMatchObject(refused('foreign-page'))
  })

  test.each([
    ['an address', { host: '127.0.0.1:6385', origin: 'http://127.0.0.1:6385' }],
    ['an IPv6 address', { host: '[::1]:6385', origin: 'http://[::1]:6385' }],
    ['localhost, at the other end of a tunnel', { host: 'LOCALHOST:9000', origin: 'http://localhost:9000' }],
    ['the usual port', { host: 'localhost:80', origin: 'http://localhost' }],
  ])('of this server, opened by %s, is answered', async (_, headers) => {
    expect(await ask(headers)).toBeUndefined()
  })

  test('of this server over TLS is answered, and by the URL of a proxy that is known', async () => {
    const overTls = { host: 'localhost', origin: 'https://localhost' }
    expect(await ask(overTls, { scheme: 'https' })).toBeUndefined()
    const byProxy = { host: '127.0.0.1:6385', origin: 'https://lab.example' }
    expect(await ask(byProxy, { publicUrl: 'https://lab.example/' })).toBeUndefined()
    expect(await ask(byProxy, { publicUrl: 'https://other.example/' })).toMatchObject(refused('foreign-page'))
  })
})

describe('the name by which a host is called', () => {
  test.each([
    ...['127.0.0.1', '127.0.0.1:6385', '[::1]:6385', '192.0.2.7', 'localhost', 'localhost.:80', 'lab.localhost:6385'],
    hostname(),
    `${hostname().toUpperCase()}:6385`,
  ])('%s is its own', async (host) => {
    expect(await ask({ host })).toBeUndefined()
  })

  test.each([
    ...['evil.example', 'evil.example:6385', 'localhost.evil.example', 'notlocalhost', '127.0.0.1.evil.example'],
    ...['', ':6385', 'evil@localhost', 'evil.example/localhost', '[::1', '127.0.0.1:6385:80'],
  ])('"%s" is not known', async (host) => {
    expect(await ask({ host })).toMatchObject(refused('unknown-host'))
    // A page of such a name is of the same origin.
    expect(await ask({ host, origin: `http://${host}` })).toMatchObject({ status: 403 })
  })

  test('is one that was named for it', async () => {
    expect(await ask({ host: 'lab:6385' }, { names: ['Lab'] })).toBeUndefined()
    expect(await ask({ host: 'lab.example' }, { publicUrl: 'https://lab.example' })).toBeUndefined()
    expect(await ask({ host: 'other.example' }, { publicUrl: 'https://lab.example' })).toMatchObject({ status: 403 })
  })

  test('may be any where a password is asked for, or where other hosts call', async () => {
    const host = 'ironstage.namespace.svc:6385'
    expect(await ask({ host }, { guard: () => Promise.resolve(asksPassword) })).toBe(asksPassword)
    expect(await ask({ host }, { guard: () => Promise.resolve(undefined) })).toBeUndefined()
    expect(await ask({ host }, { host: '0.0.0.0' })).toBeUndefined()
  })
})

test('a call that names no host comes from no browser', async () => {
  expect(await ask({})).toBeUndefined()
  expect(await ask({ origin: 'http://localhost:3000' })).toBeUndefined()
  expect(await ask({}, { guard: () => Promise.resolve(asksPassword) })).toBe(asksPassword)
})
