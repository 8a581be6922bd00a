import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Scope, seededRandom, systemClock } from '../base/runtime/index.js'
import { HttpTransport, type ClientTls } from '../base/wire/index.js'
import { AgentScene } from '../test/kit/agent-scene.js'
import { NODE, TOKEN } from '../test/kit/fake-ironic.js'
import { selfSigned } from './http/agent-certificate.js'

const clock = systemClock()
let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scope.onClose(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

const http = (status: string, body: string, more = '') =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${more}content-length: ${body.length}\r\n\r\n${body}`
const ROOT = http('200 OK', '{"default_version":{"version":"1.67"}}')
const LOOKUP = http(
  '200 OK',
  JSON.stringify({ node: { uuid: NODE }, config: { heartbeat_timeout: 300, agent_token: TOKEN } }),
)
const TAKEN = 'HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n'

/** Answers as a good Ironic, except for the first request for a path. A GET that meets a close is sent again. */
function answering(path: string, bad: string | 'close'): (socket: Socket) => void {
  let left = bad === 'close' ? 2 : 1
  return (socket) =>
    void socket.on('data', (data) => {
      const asked = data.toString().split(' ')[1] ?? ''
      const call = asked.startsWith('/v1/lookup') ? 'lookup' : asked.startsWith('/v1/heart') ? 'heartbeat' : 'root'
      if (call === path && left > 0) {
        left--
        if (bad === 'close') return void socket.destroy()
        return void socket.end(bad)
      }
      socket.write(call === 'lookup' ? LOOKUP : call === 'heartbeat' ? TAKEN : ROOT)
    })
}

/** An agent on wall time with Ironic at this URL, and the messages that it logs. */
function agentOf(url: string, tls: ClientTls = {}) {
  const messages: string[] = []
  const scene = new AgentScene({
    clock,
    transport: scope.use(new HttpTransport({ clock, timeoutMs: 2000, tls })),
    boot: { id: 'b', parameters: { 'ipa-api-url': url } },
    logger: (_level, message) => messages.push(message),
  })
  scope.use(scene.start())
  return { scene, messages }
}

const CASES: [string, 'root' | 'lookup' | 'heartbeat', string, RegExp][] = [
  ['answers what is not HTTP', 'root', 'SSH-2.0-OpenSSH_9.9\r\n', /Parse Error|Expected HTTP/],
  ['answers what is not JSON', 'root', http('200 OK', '<html>hello</html>'), /not JSON: <html>hello/],
  ['answers other JSON', 'root', http('200 OK', '{"name":"nova"}'), /must have required property 'default_version'/],
  ['answers nothing', 'lookup', http('200 OK', ''), /not JSON: it is empty/],
  ['answers a lookup without a node', 'lookup', http('200 OK', '{"config":{}}'), /must have required property 'node'/],
  [
    'redirects',
    'lookup',
    http('302 Found', '', 'location: https://elsewhere/login\r\n'),
    /302, a redirect to https:\/\/elsewhere\/login, which is not followed/,
  ],
  ['closes before it has answered', 'lookup', 'close', /closed the connection without an answer|reset the connection/],
  [
    'closes in the middle of its answer',
    'lookup',
    'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"node":',
    /closed the connection in the middle of the body/,
  ],
  ['says 200 to a heartbeat', 'heartbeat', http('200 OK', '{}'), /the heartbeat failed; sending it again: 200 \{\}/],
  ['closes on a heartbeat', 'heartbeat', 'close', /the heartbeat failed; sending it again: POST http/],
]

test.each(CASES)(
  'an Ironic that %s (%s): the log names the cause, and the agent goes on',
  async (_, path, bad, cause) => {
    const port = await listening(createServer(answering(path, bad)))
    const { scene, messages } = agentOf(`http://127.0.0.1:${port}`)
    await expect.poll(() => messages.join('\n'), { timeout: 5000 }).toMatch(cause)
    await expect.poll(() => scene.agent.phase, { timeout: 5000 }).toBe('serving')
  },
)

test('an untrusted certificate of Ironic is logged; one from a trusted authority is accepted', async () => {
  const identity = await selfSigned({ hostname: 'ironic', address: '127.0.0.1', random: seededRandom(1), clock })
  const secure = { cert: identity.certificate, key: identity.key }
  const port = await listening(createTlsServer(secure, answering('root', ROOT)))
  const url = `https://127.0.0.1:${port}`
  const stranger = agentOf(url)
  await expect.poll(() => stranger.messages.join('\n'), { timeout: 5000 }).toContain('self-signed certificate')
  expect(stranger.scene.agent.phase).toBe('looking up')
  for (const tls of [{ insecure: true }, { ca: identity.certificate }]) {
    const { scene } = agentOf(url, tls)
    await expect.poll(() => scene.agent.phase, { timeout: 5000 }).toBe('serving')
  }
})

test('a certificate of another host is refused', async () => {
  const identity = await selfSigned({ hostname: 'ironic', address: '192.0.2.1', random: seededRandom(1), clock })
  const secure = { cert: identity.certificate, key: identity.key }
  const port = await listening(createTlsServer(secure, answering('root', ROOT)))
  const { messages } = agentOf(`https://127.0.0.1:${port}`, { ca: identity.certificate })
  await expect.poll(() => messages.join('\n'), { timeout: 5000 }).toMatch(/does not match certificate/)
})
