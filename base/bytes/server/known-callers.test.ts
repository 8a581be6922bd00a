import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { callerCheck, type CallerRefusal, type CallerRules } from './known-callers.js'

interface Asked extends Partial<CallerRules> {
  scheme?: string
  method?: string
}

/** The refusal of a call; undefined where it is carried out. */
function ask(headers: Record<string, string>, options: Asked = {}): CallerRefusal | undefined {
  const { scheme = 'http', method = 'POST', ...rules } = options
  const check = callerCheck({ host: '127.0.0.1', ...rules })
  return check({ method, headers, base: `${scheme}://${headers['host'] ?? 'ironic.invalid'}` })
}

const refused = (code: string) => ({ code })

describe('a web page', () => {
  test.each([
    ['of another server', { host: '127.0.0.1:6385', origin: 'http://evil.example' }],
    ['of another port of this host', { host: '127.0.0.1:6385', origin: 'http://127.0.0.1:3000' }],
    ['of this host by another name', { host: '127.0.0.1:6385', origin: 'http://localhost:6385' }],
    ['of another scheme', { host: 'localhost:6385', origin: 'https://localhost:6385' }],
    ['without an origin of its own', { host: 'localhost:6385', origin: 'null' }],
    ['whose origin is no URL', { host: 'localhost:6385', origin: 'localhost:6385, http://localhost:6385' }],
  ])('%s is refused, with a password too', (_, headers) => {
    expect(ask(headers)).toMatchObject(refused('foreign-page'))
    expect(ask(headers, { asksPassword: true })).toMatchObject(refused('foreign-page'))
    expect(ask(headers, { host: '0.0.0.0', asksPassword: true })).toMatchObject(refused('foreign-page'))
  })

  test.each([
    ['an address', { host: '127.0.0.1:6385', origin: 'http://127.0.0.1:6385' }],
    ['an IPv6 address', { host: '[::1]:6385', origin: 'http://[::1]:6385' }],
    ['localhost, at the other end of a tunnel', { host: 'LOCALHOST:9000', origin: 'http://localhost:9000' }],
    ['the usual port', { host: 'localhost:80', origin: 'http://localhost' }],
  ])('of this server, opened by %s, is answered', (_, headers) => {
    expect(ask(headers)).toBeUndefined()
  })

  test('of this server over TLS is answered, and by the URL of a proxy that is known', () => {
    const overTls = { host: 'localhost', origin: 'https://localhost' }
    expect(ask(overTls, { scheme: 'https' })).toBeUndefined()
    const byProxy = { host: '127.0.0.1:6385', origin: 'https://lab.example' }
    expect(ask(byProxy, { publicUrl: 'https://lab.example/' })).toBeUndefined()
    expect(ask(byProxy, { publicUrl: 'https://other.example/' })).toMatchObject(refused('foreign-page'))
  })
})

describe('the name by which a host is called', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:6385',
    '[::1]:6385',
    '192.0.2.7',
    'localhost',
    'localhost.:80',
    'lab.localhost:6385',
    hostname(),
    `${hostname().toUpperCase()}:6385`,
  ])('%s is its own', (host) => {
    expect(ask({ host })).toBeUndefined()
  })

  test.each([
    'evil.example',
    'evil.example:6385',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.evil.example',
    '',
    ':6385',
    'evil@localhost',
    'evil.example/localhost',
    '[::1',
    '127.0.0.1:6385:80',
  ])('"%s" is not known', (host) => {
    expect(ask({ host })).toMatchObject(refused('unknown-host'))
    // A page of such a name is of the same origin.
    expect(ask({ host, origin: `http://${host}` })).toMatchObject({ remedy: expect.any(String) as string })
  })

  test('is one that was named for it', () => {
    expect(ask({ host: 'lab:6385' }, { allowedHosts: ['Lab'] })).toBeUndefined()
    expect(ask({ host: 'lab.example' }, { publicUrl: 'https://lab.example' })).toBeUndefined()
    expect(ask({ host: 'other.example' }, { publicUrl: 'https://lab.example' })).toMatchObject({
      remedy: expect.any(String) as string,
    })
  })

  test('may be any where a password is asked for, or where other hosts call', () => {
    const host = 'ironstage.namespace.svc:6385'
    expect(ask({ host }, { asksPassword: true })).toBeUndefined()
    expect(ask({ host }, { host: '0.0.0.0' })).toBeUndefined()
  })

  test('is one of those that were named, on other addresses too', () => {
    const other = { host: '0.0.0.0', allowedHosts: ['lab.example'] }
    expect(ask({ host: 'lab.example:6385' }, other)).toBeUndefined()
    expect(ask({ host: '192.0.2.7:6385' }, other)).toBeUndefined()
    expect(ask({ host: 'evil.example' }, other)).toMatchObject(refused('unknown-host'))
  })

  test('is repeated in the refusal with what to do, without what a terminal would obey', () => {
    expect(ask({ host: 'host.docker.internal:6385' })).toMatchObject({
      message: expect.stringContaining('host.docker.internal:6385 is not known') as string,
      remedy: expect.stringContaining('--allowed-host') as string,
    })
    expect(ask({ host: 'a\u001b[31m\u009b\u202e' })?.message).toMatch(/^[ -~]*$/)
  })
})

test('a call that names no host comes from no browser', () => {
  expect(ask({})).toBeUndefined()
  expect(ask({ origin: 'http://localhost:3000' })).toBeUndefined()
})

describe('what a page of another site loads, without an origin', () => {
  const page = { host: 'localhost:6385', 'sec-fetch-site': 'cross-site' }

  test.each(['cross-site', 'same-site'])('is refused: %s', (site) => {
    const image = { ...page, 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
    expect(ask(image, { method: 'GET' })).toMatchObject(refused('foreign-page'))
    expect(ask(image, { method: 'GET', asksPassword: true })).toMatchObject(refused('foreign-page'))
  })

  test('is answered where a person follows a link, and refused in a frame or by a form', () => {
    const link = { ...page, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect(ask(link, { method: 'GET' })).toBeUndefined()
    expect(ask(link, { method: 'POST' })).toMatchObject(refused('foreign-page'))
    expect(ask({ ...link, 'sec-fetch-dest': 'iframe' }, { method: 'GET' })).toMatchObject(refused('foreign-page'))
  })

  test.each(['same-origin', 'none'])('is answered where it is of this server: %s', (site) => {
    expect(ask({ ...page, 'sec-fetch-site': site })).toBeUndefined()
  })
})
