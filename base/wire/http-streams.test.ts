import { once } from 'node:events'
import { createServer } from 'node:http'
import { createConnection, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Scope, systemClock } from '../runtime/index.js'
import { answerOfStream } from './wire-exchange.js'
import { serveHttp } from './http-server.js'
import { sendStream } from './http-streams.js'

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

const PART = 'x'.repeat(64 * 1024)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function pausedClient(port: number) {
  const socket = createConnection({ port, host: '127.0.0.1' })
  scope.onClose(() => socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  return socket
}

test('parts are asked for only as their client takes them, and no more once it has gone', async () => {
  let parts = 0
  let isEnded = false
  async function* endless(signal: AbortSignal) {
    try {
      while (!signal.aborted) {
        parts++
        yield await Promise.resolve(PART)
      }
    } finally {
      isEnded = true
    }
  }
  const dispatch = () => Promise.resolve(answerOfStream(200, {}, endless))
  const server = scope.use(await serveHttp({ dispatch, port: 0, clock: systemClock() }))
  const socket = await pausedClient(server.port)
  await expect.poll(() => parts, { timeout: 10_000 }).toBeGreaterThan(1)
  // Until the buffers of both sockets are full.
  for (let before = -1; before !== parts;) {
    before = parts
    await pause(300)
  }
  expect(parts).toBeLessThan(500)

  socket.destroy()
  await expect.poll(() => isEnded, { timeout: 10_000 }).toBe(true)
})

test('a client that takes nothing is cut off', async () => {
  async function* endless() {
    for (;;) yield await Promise.resolve(PART)
  }
  const server = createServer((_, response) => void sendStream(response, endless, new AbortController().signal, 200))
  scope.onClose(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = await pausedClient((server.address() as AddressInfo).port)

  await expect
    .poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count))), { timeout: 10_000 })
    .toBe(0)
  socket.destroy()
})
