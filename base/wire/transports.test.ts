import { defaultMaxListeners } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { Probe, Scope, systemClock, UserError, VirtualClock } from '../runtime/index.js'
import { ConnectionFailed, type Dispatch, type Transport, type WireResponse } from './wire-exchange.js'
import { serveHttp } from './http-server.js'
import { HttpTransport } from './http-transport.js'
import { InProcessTransport } from './in-process-transport.js'
import { isExchange, probeTransport, probedDispatch } from './probed.js'

const clock = systemClock()
let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

/** Says back what it was asked. */
const echo: Dispatch = ({ method, target, headers, body, base }) =>
  Promise.resolve({
    status: method === 'POST' ? 201 : 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, target, asked: headers['x-asked'], body, based: base }),
  })

async function overHttp(dispatch: Dispatch): Promise<{ transport: Transport; url: string }> {
  const server = scope.use(await serveHttp({ dispatch, port: 0, clock }))
  return { transport: scope.use(new HttpTransport({ clock, timeoutMs: 2000 })), url: server.url }
}
function inProcess(dispatch: Dispatch): { transport: Transport; url: string } {
  const transport = new InProcessTransport()
  transport.register('http://127.0.0.1:6385', dispatch)
  return { transport, url: 'http://127.0.0.1:6385' }
}

describe.each([
  ['over HTTP', overHttp],
  ['in process', inProcess],
])('%s', (_, open) => {
  test('a request arrives as it was sent, and its answer comes back', async () => {
    const { transport, url } = await open(echo)
    const response = await transport.send({
      method: 'POST',
      url: `${url}/v1/nodes/a%20b?x=1&y=%2F`,
      headers: { 'X-Asked': 'yes', 'content-type': 'application/json' },
      body: '{"ö":1}',
    })
    expect(response.status).toBe(201)
    expect(response.headers['content-type']).toBe('application/json')
    expect(JSON.parse(response.body!)).toEqual({
      method: 'POST',
      target: '/v1/nodes/a%20b?x=1&y=%2F',
      asked: 'yes',
      body: '{"ö":1}',
      based: url,
    })
  })

  test('more requests at once than an emitter may have listeners draw no warning', async () => {
    const warnings: string[] = []
    const warned = (warning: Error) => void warnings.push(warning.message)
    process.on('warning', warned)
    try {
      const { transport, url } = await open(echo)
      const many = Array.from({ length: 2 * defaultMaxListeners }, () =>
        transport.send({ method: 'GET', url, headers: {} }),
      )
      expect((await Promise.all(many)).map(({ status }) => status)).toEqual(many.map(() => 200))
      // Node emits them in the next tick.
      await new Promise((resolve) => setImmediate(resolve))
      expect(warnings).toEqual([])
    } finally {
      process.off('warning', warned)
    }
  })

  test('an empty body is none, an empty path is the root', async () => {
    const { transport, url } = await open((request) =>
      Promise.resolve({
        status: 204,
        headers: { 'x-had-body': String('body' in request), 'x-target': request.target },
      }),
    )
    const response = await transport.send({ method: 'DELETE', url, headers: {} })
    expect(response).toMatchObject({ status: 204, headers: { 'x-had-body': 'false', 'x-target': '/' } })
    expect('body' in response).toBe(false)
  })

  test('an aborted exchange rejects with the reason', async () => {
    const { transport, url } = await open(() => new Promise<WireResponse>(() => {}))
    const controller = new AbortController()
    const sent = transport.send({ method: 'GET', url, headers: {}, signal: controller.signal })
    setImmediate(() => controller.abort(new Error('enough')))
    await expect(sent).rejects.toThrow('enough')
  })
})

test('nobody there: over HTTP', async () => {
  const { transport, url } = await overHttp(echo)
  await scope[Symbol.asyncDispose]()
  const again = new HttpTransport({ clock })
  await expect(again.send({ method: 'GET', url, headers: {} })).rejects.toBeInstanceOf(ConnectionFailed)
  await expect(transport.send({ method: 'GET', url, headers: {} })).rejects.toBeInstanceOf(ConnectionFailed)
  await again[Symbol.asyncDispose]()
})

/** Answers the first request of a connection, and closes it, or resets it, when there is a second one. */
async function forgetfulServer(end: (socket: Socket) => void): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = []
  const server = createServer((socket) => {
    let isUsed = false
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      requests.push(`${bytes.toString().split(' ')[0]} ${isUsed ? 'again' : 'first'}`)
      if (isUsed) return end(socket)
      isUsed = true
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scope.use({ [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())) })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

describe.each<[string, (socket: Socket) => void]>([
  ['closes', (socket) => void socket.end()],
  ['resets', (socket) => void socket.resetAndDestroy()],
])('a server that %s a kept connection just when it is used again', (_, end) => {
  test('gets a request that changes nothing once more, by a new connection', async () => {
    const { url, requests } = await forgetfulServer(end)
    const transport = scope.use(new HttpTransport({ clock }))
    for (const method of ['GET', 'GET', 'HEAD'])
      expect((await transport.send({ method, url, headers: {} })).status).toBe(200)
    expect(requests).toEqual(['GET first', 'GET again', 'GET first', 'HEAD again', 'HEAD first'])
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('does not get a %s twice', async (method) => {
    const { url, requests } = await forgetfulServer(end)
    const transport = scope.use(new HttpTransport({ clock }))
    await transport.send({ method: 'GET', url, headers: {} })
    await expect(transport.send({ method, url, headers: {} })).rejects.toBeInstanceOf(ConnectionFailed)
    expect(requests).toEqual(['GET first', `${method} again`])
  })
})

test('a connection that fails at its first request is not tried again', async () => {
  const requests: string[] = []
  const server = createServer((socket) =>
    socket
      .on('error', () => {})
      .on('data', () => {
        requests.push('seen')
        socket.resetAndDestroy()
      }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scope.use({ [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())) })
  const transport = scope.use(new HttpTransport({ clock }))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(transport.send({ method: 'GET', url, headers: {} })).rejects.toBeInstanceOf(ConnectionFailed)
  expect(requests).toEqual(['seen'])
})

test('nobody there: in process, unless there is a transport beyond', async () => {
  const nobody = new InProcessTransport()
  await expect(nobody.send({ method: 'GET', url: 'http://x/', headers: {} })).rejects.toBeInstanceOf(ConnectionFailed)
  const beyond = new InProcessTransport(inProcess(echo).transport)
  expect((await beyond.send({ method: 'GET', url: 'http://127.0.0.1:6385/', headers: {} })).status).toBe(200)
})

test('an agent behind a path of a shared listener is told its base', async () => {
  const transport = new InProcessTransport()
  transport.register('http://127.0.0.1:9999/agents/a1', echo)
  const { body } = await transport.send({
    method: 'GET',
    url: 'http://127.0.0.1:9999/agents/a1/v1/status',
    headers: {},
  })
  expect(JSON.parse(body!)).toMatchObject({ target: '/v1/status', based: 'http://127.0.0.1:9999/agents/a1' })
})

test('a closing server lets what is under way end and does not wait for idle connections', async () => {
  let release!: () => void
  const released = new Promise<void>((resolve) => (release = resolve))
  let arrived!: () => void
  const under = new Promise<void>((resolve) => (arrived = resolve))
  const server = await serveHttp({
    port: 0,
    clock,
    dispatch: async ({ target }) => {
      if (target === '/slow') {
        arrived()
        await released
      }
      return { status: 200, headers: {}, body: 'done' }
    },
  })
  const transport = scope.use(new HttpTransport({ clock }))
  await transport.send({ method: 'GET', url: server.url, headers: {} })
  const slow = transport.send({ method: 'GET', url: `${server.url}/slow`, headers: {} })
  await under

  const started = performance.now()
  const closed = server[Symbol.asyncDispose]()
  release()
  expect((await slow).body).toBe('done')
  await closed
  expect(performance.now() - started).toBeLessThan(400)
})

test('a closing server does not wait long for a request that never ends', async () => {
  const server = await serveHttp({ port: 0, clock, dispatch: () => new Promise(() => {}) })
  const transport = scope.use(new HttpTransport({ clock }))
  const stuck = transport.send({ method: 'GET', url: server.url, headers: {} }).catch((error: unknown) => error)
  await new Promise((resolve) => setTimeout(resolve, 30))
  await server[Symbol.asyncDispose]()
  expect(await stuck).toBeInstanceOf(ConnectionFailed)
})

test('a busy port is named, with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as { port: number }
  const error = await serveHttp({ dispatch: echo, port, clock }).catch((caught: unknown) => caught)
  other.close()
  expect(error).toBeInstanceOf(UserError)
  expect(error).toMatchObject({ code: 'port-in-use', message: `port ${port} on 127.0.0.1 is already in use` })
  expect((error as UserError).remedy).toContain('another port')
})

test('a body over the limit is refused before anybody reads it', async () => {
  let asked = false
  const dispatch: Dispatch = (request) => {
    asked = true
    return echo(request)
  }
  const server = scope.use(await serveHttp({ dispatch, port: 0, clock, bodyLimit: 10 }))
  const transport = scope.use(new HttpTransport({ clock }))
  const response = await transport.send({ method: 'POST', url: server.url, headers: {}, body: 'x'.repeat(11) })
  expect(response.status).toBe(413)
  expect(asked).toBe(false)
})

test('a body that is not UTF-8 is refused before anybody reads it', async () => {
  const server = scope.use(await serveHttp({ dispatch: () => Promise.reject(new Error('asked')), port: 0, clock }))
  const response = await fetch(server.url, { method: 'POST', body: Buffer.from([0x7b, 0xff, 0x7d]) })
  expect([response.status, await response.text()]).toEqual([400, 'The request body is not UTF-8 text.\n'])
})

test('a dispatch that throws is a 500 and not the end of the server', async () => {
  const { transport, url } = await overHttp(() => Promise.reject(new Error('a defect')))
  expect((await transport.send({ method: 'GET', url, headers: {} })).status).toBe(500)
  expect((await transport.send({ method: 'GET', url, headers: {} })).status).toBe(500)
})

test('real exchanges hold a virtual clock: time does not jump past an answer that is on its way', async () => {
  const lab = new VirtualClock()
  const { url } = await overHttp(async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return echo(request)
  })
  const transport = scope.use(new HttpTransport({ clock: lab }))
  const raced = Promise.race([
    transport.send({ method: 'GET', url, headers: {} }).then(() => 'answered'),
    lab.sleep(1000).then(() => 'timed out'),
  ])
  expect(await lab.until(raced)).toBe('answered')
})

describe('the probe', () => {
  const seen: string[] = []
  const probe = new Probe()

  test('sees each side of an exchange, and can answer instead, or let nobody answer', async () => {
    const { transport, url } = inProcess(probedDispatch(echo, probe, { from: 'client', to: 'ironic' }))
    const client = probeTransport(transport, probe, { from: 'client', to: 'ironic' })
    const watching = probe.attach(async (point, next) => {
      const result = await next()
      if (isExchange(point)) {
        const { side, from, to, method, target } = point
        seen.push(`${side} ${from}->${to} ${method} ${target} ${(result as WireResponse).status}`)
      }
      return result
    })
    await client.send({ method: 'GET', url: `${url}/v1?x`, headers: {} })
    expect(seen).toEqual(['server client->ironic GET /v1?x 200', 'client client->ironic GET /v1?x 200'])
    watching[Symbol.dispose]()

    const failing = probe.attach(async (point, next) =>
      isExchange(point) && point.side === 'server' ? ({ status: 503, headers: {} } as never) : next(),
    )
    expect((await client.send({ method: 'GET', url, headers: {} })).status).toBe(503)
    failing[Symbol.dispose]()

    const cut = probe.attach(() => Promise.reject(new ConnectionFailed('cut')))
    await expect(client.send({ method: 'GET', url, headers: {} })).rejects.toThrow('cut')
    cut[Symbol.dispose]()
  })
})

test('a client that has gone before its answer keeps no virtual clock from moving', async () => {
  const lab = new VirtualClock()
  let answerNow = (): void => {}
  let arrived = (): void => {}
  const isThere = new Promise<void>((resolve) => (arrived = resolve))
  const server = scope.use(
    await serveHttp({
      port: 0,
      clock: lab,
      dispatch: () =>
        new Promise((resolve) => {
          arrived()
          answerNow = () => resolve({ status: 200, headers: {}, body: 'late' })
        }),
    }),
  )
  const controller = new AbortController()
  const asked = fetch(server.url, { signal: controller.signal }).catch((error: unknown) => error)
  await isThere
  controller.abort()
  await asked
  // The server hears of it.
  await new Promise((resolve) => setTimeout(resolve, 50))
  answerNow()
  await new Promise((resolve) => setImmediate(resolve))
  expect(lab.holds()).toEqual([])
})
