import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { composeStage, type Stage } from '../../lab/index.js'
import { serveHttp } from '../../base/wire/index.js'
import { systemClock } from '../../base/runtime/index.js'

/** Bytes that no HTTP client sends. */

let served: Stage
beforeAll(async () => void (served = await composeStage({ network: { host: '127.0.0.1', port: 0 } })))
afterAll(() => served[Symbol.asyncDispose]())

/** Sends bytes and reads until the server hangs up; it must, since nothing that is sent asks to keep the connection. */
function exchange(url: string, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString('latin1')))
    socket.on('close', () => resolve(received))
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)))
    socket.write(bytes)
  })
}

function read(answer: string): { status: number; headers: string; body: string } {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), headers: head.toLowerCase(), body: rest.join('\r\n\r\n') }
}

const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n\r\n`
const VERSION = 'X-OpenStack-Ironic-API-Version: 1.115'
const post = (...headers: string[]): string =>
  lines('POST /v1/nodes HTTP/1.1', 'Host: localhost', VERSION, 'Connection: close', ...headers)

describe('is refused in the shape of every other error', () => {
  test.each<[string, string | Buffer, number]>([
    ['no HTTP at all', Buffer.from([0, 1, 2, 3, 13, 10, 13, 10]), 400],
    ['another protocol', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1]), 400],
    ['an unknown method', lines('FOO /v1/nodes HTTP/1.1', 'Host: localhost'), 400],
    ['a path that is not absolute', lines('GET v1/nodes HTTP/1.1', 'Host: localhost'), 400],
    ['a header without a colon', lines('GET /v1 HTTP/1.1', 'nonsense'), 400],
    ['control characters in a header', lines('GET /v1 HTTP/1.1', 'A: b\u0001c'), 400],
    ['headers without end', lines('GET /v1 HTTP/1.1', `A: ${'a'.repeat(40_000)}`), 431],
    ['more headers than anybody needs', lines('GET /v1 HTTP/1.1', ...Array<string>(9000).fill('A: b')), 431],
    ['a path without end', lines(`GET /v1/nodes?${'a'.repeat(40_000)} HTTP/1.1`), 431],
    ['two lengths', `${post('Content-Length: 2', 'Content-Length: 3')}{}`, 400],
    ['a length and chunks', `${post('Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`, 400],
    ['chunks that are none', `${post('Transfer-Encoding: chunked')}zz\r\n{}\r\n`, 400],
    ['a length below nothing', post('Content-Length: -1'), 400],
    ['a length that nobody sends, at once', post('Content-Length: 99999999999'), 413],
    [
      'a body that is not UTF-8',
      Buffer.concat([Buffer.from(post('Content-Length: 3')), Buffer.from([0x7b, 255, 0x7d])]),
      400,
    ],
    ['a body of an encoding that it has not', `${post('Content-Encoding: gzip', 'Content-Length: 2')}{}`, 400],
    ['an expectation', `${post('Expect: miracles', 'Content-Length: 2')}{}`, 417],
    ['a tunnel', lines('CONNECT example.org:443 HTTP/1.1', 'Host: localhost'), 405],
    [
      'a query that is not UTF-8',
      lines('GET /v1/nodes?driver=%ff HTTP/1.1', 'Host: localhost', 'Connection: close'),
      400,
    ],
  ])('%s', async (_, bytes, status) => {
    const answer = read(await exchange(served.url, bytes))
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatch(/x-openstack-request-id: req-[0-9a-f-]{36}/)
    const { error_message } = JSON.parse(answer.body) as { error_message: string }
    expect(JSON.parse(error_message)).toMatchObject({ code: status, title: expect.any(String) as string })
  })

  test('a body that comes too slowly, and headers that do', async () => {
    await using slow = await serveHttp({
      dispatch: () => Promise.reject(new Error('asked')),
      port: 0,
      clock: systemClock(),
      refuse: (status, why) => ({ status, headers: {}, body: why }),
      slowest: { headers: 100, request: 200 },
    })
    for (const bytes of ['GET /v1 HTTP/1.1\r\nHost:', `${post('Content-Length: 10')}{`]) {
      const answer = read(await exchange(slow.url, bytes))
      expect([answer.status, answer.body]).toEqual([408, 'The request has not arrived in time.'])
    }
  })
})

describe('bodies that are sent at once and fill the memory together', () => {
  const KIB = 1024
  const large = Buffer.alloc(600 * KIB, 'x')

  async function limited() {
    let answered = 0
    let release: () => void = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const server = await serveHttp({
      port: 0,
      clock: systemClock(),
      bodyLimit: 640 * KIB,
      allBodiesLimit: 1000 * KIB,
      refuse: (status, why) => ({ status, headers: {}, body: why }),
      dispatch: async ({ body = '' }) => {
        answered++
        await released
        return { status: 200, headers: {}, body: String(body.length) }
      },
    })
    const send = (headers: Record<string, string> = {}, body: Buffer = large) =>
      fetch(server.url, { method: 'PUT', body, headers }).then(async (answer) => [answer.status, await answer.text()])
    return { server, send, open: () => release(), answered: () => answered }
  }

  test.each<[string, Record<string, string>, Buffer]>([
    ['as they are', {}, large],
    ['compressed', { 'content-encoding': 'gzip' }, gzipSync(large)],
  ])('%s: those beyond the limit of all are a 503, and later ones are taken again', async (_, headers, body) => {
    const { server, send, open, answered } = await limited()
    await using _server = server
    const first = send()
    await vi.waitFor(() => expect(answered()).toBe(1))
    const refused = [503, expect.stringContaining('send this one again in a few seconds')]
    expect(await send(headers, body)).toEqual(refused)
    expect(await send(headers, body)).toEqual(refused)
    const smaller = send({}, Buffer.alloc(300 * KIB, 'x'))
    await vi.waitFor(() => expect(answered()).toBe(2))
    // Now there is room for less than its body, and a heartbeat is taken all the same.
    const small = send({}, Buffer.alloc(200 * KIB, 'x'))
    await vi.waitFor(() => expect(answered()).toBe(3))
    open()
    expect([await first, await smaller, await small]).toEqual([
      [200, String(600 * KIB)],
      [200, String(300 * KIB)],
      [200, String(200 * KIB)],
    ])
    await vi.waitFor(async () => expect(await send(headers, body)).toEqual([200, String(600 * KIB)]))
  })
})

describe('is taken as Ironic takes it', () => {
  test.each<[string, string, number]>([
    ['no host', lines('GET /v1/nodes HTTP/1.1', 'Connection: close'), 200],
    ['HTTP/1.0', lines('GET /v1/nodes HTTP/1.0'), 200],
    [
      'a body where none is read',
      `${lines('GET /v1/nodes HTTP/1.1', 'Host: localhost', 'Connection: close', 'Content-Length: 3')}xyz`,
      200,
    ],
    [
      'a percent sign that is one',
      lines('GET /v1/nodes?driver=%zz HTTP/1.1', VERSION, 'Host: localhost', 'Connection: close'),
      200,
    ],
    [
      'a wish for another protocol',
      lines('GET /v1 HTTP/1.1', 'Host: localhost', 'Upgrade: h2c', 'Connection: Upgrade, close'),
      200,
    ],
  ])('%s', async (_, bytes, status) => {
    expect(read(await exchange(served.url, bytes)).status).toBe(status)
  })
})
