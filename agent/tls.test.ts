import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect, type SecureVersion } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { Scope, seededRandom, systemClock } from '../base/runtime/index.js'
import { HttpTransport, type HeartbeatBody } from '../base/wire/index.js'
import { AgentScene } from '../test/kit/agent-scene.js'
import { NODE, TOKEN } from '../test/kit/fake-ironic.js'
import { AgentListener } from './http/listener.js'

const clock = systemClock()
let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

/** Heartbeats of a real ironic-python-agent 13.0.0, distilled from the recording agent-tls. */
const RECORDED = JSON.parse(
  readFileSync(new URL('../test/fixtures/agent-tls/heartbeats.json', import.meta.url), 'utf8'),
) as { method: string; headers: Record<string, string>; body: HeartbeatBody }[]

/** An agent with its own listener, on a virtual clock; the listener and its clients are real. */
async function listening(scene: AgentScene, port = 0) {
  const listener = scope.use(await AgentListener.open({ port, clock }))
  const agent = scene.start({ callbackUrl: listener.urlOf(null), tls: listener.tls({ random: seededRandom(5) }) })
  scope.use(agent)
  listener.mount(null, agent.dispatch)
  return { listener, agent }
}

const beats = (scene: AgentScene) =>
  scene.ironic.of('heartbeat').map(({ request }) => JSON.parse(request.body!) as HeartbeatBody)
const beaten = (scene: AgentScene, count = 1) =>
  expect.poll(() => scene.clock.advance(0).then(() => beats(scene).length)).toBe(count)

describe('an Ironic that takes certificates (1.68)', () => {
  test('gets an https callback URL with the certificate to trust, in the recorded shape, every time', async () => {
    const scene = new AgentScene()
    const { listener } = await listening(scene)
    await beaten(scene)
    await scene.clock.advance(200_000)
    const [first, second] = beats(scene)
    const recorded = RECORDED[0]!
    expect(Object.keys(first!)).toEqual(Object.keys(recorded.body))
    expect(first!.callback_url).toBe(`https://127.0.0.1:${listener.port}`)
    expect(second).toEqual(first)
    expect(scene.ironic.of('heartbeat')[0]!.request).toMatchObject({
      method: recorded.method,
      headers: { 'x-openstack-ironic-api-version': recorded.headers['X-OpenStack-Ironic-API-Version'] },
    })
    expect(new X509Certificate(first!.agent_verify_ca!).subject).toBe('CN=test')
  })

  test('reaches the agent by trusting that certificate, and not without it', async () => {
    const scene = new AgentScene()
    await listening(scene)
    await beaten(scene)
    const { callback_url, agent_verify_ca } = beats(scene)[0]!
    const transport = scope.use(new HttpTransport({ clock, timeoutMs: 2000 }))
    const status = { method: 'GET', url: `${callback_url}/v1/status`, headers: {} }
    expect(await transport.send({ ...status, ca: agent_verify_ca! })).toMatchObject({ status: 200 })
    await expect(transport.send(status)).rejects.toThrow(/self-signed certificate/)
    await expect(transport.send({ ...status, url: status.url.replace('https', 'http') })).rejects.toThrow('GET http://')
    const commands = { ...status, url: `${callback_url}/v1/commands?agent_token=${TOKEN}`, ca: agent_verify_ca! }
    expect((await transport.send(commands)).headers['location']).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/v1\/commands\//)
  })

  test('finds the same certificate after the agent restarted on the same boot', async () => {
    const scene = new AgentScene()
    const { agent, listener } = await listening(scene)
    await beaten(scene)
    await agent.stop()
    await listener[Symbol.asyncDispose]()
    await listening(scene, listener.port)
    await beaten(scene, 2)
    const [before, after] = beats(scene)
    expect(after).toEqual(before)
    const transport = scope.use(new HttpTransport({ clock, timeoutMs: 2000 }))
    const asked = { method: 'GET', url: `${after!.callback_url}/v1/status`, headers: {}, ca: before!.agent_verify_ca! }
    expect(await transport.send(asked)).toMatchObject({ status: 200 })
  })
})

test('the oldest TLS that an agent speaks is the one that Ironic names when it is looked up, also after a restart', async () => {
  const scene = new AgentScene()
  const config = { heartbeat_timeout: 300, agent_token: TOKEN, tls_min_version: '1.3', tls_cipher_suites: null }
  const body = JSON.stringify({ node: { uuid: NODE, properties: {} }, config })
  scene.ironic.next('lookup', { status: 200, headers: {}, body })
  const spoken = async (port: number, maxVersion: SecureVersion) => {
    const socket = connect({ host: '127.0.0.1', port, maxVersion, rejectUnauthorized: false })
    const ended = new Promise<boolean>((resolve) => {
      socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false))
    })
    const version = (await ended) ? socket.getProtocol() : null
    socket.destroy()
    return version
  }
  const { agent, listener } = await listening(scene)
  await beaten(scene)
  expect(await spoken(listener.port, 'TLSv1.3')).toBe('TLSv1.3')
  expect(await spoken(listener.port, 'TLSv1.2')).toBeNull()
  await agent.stop()
  await listener[Symbol.asyncDispose]()
  await listening(scene, listener.port)
  await beaten(scene, 2)
  expect(await spoken(listener.port, 'TLSv1.2')).toBeNull()
})

test('agents that share a listener share its certificate', async () => {
  const listener = scope.use(await AgentListener.open({ port: 0, clock }))
  const tls = listener.tls({ random: seededRandom(5) })
  const scenes = [new AgentScene(), new AgentScene()]
  for (const [index, scene] of scenes.entries()) {
    scope.use(scene.start({ callbackUrl: listener.urlOf(`m${index}`), tls }))
    await beaten(scene)
  }
  const [one, two] = scenes.map((scene) => beats(scene)[0]!)
  expect(one!.agent_verify_ca).toBe(two!.agent_verify_ca)
  expect(one!.callback_url).toMatch(/^https:.*\/m0$/)
})

test.each([
  { name: 'an older Ironic', version: '1.67', parameters: {}, configFiles: [] },
  {
    name: 'enable_auto_tls = False',
    version: '1.115',
    parameters: {},
    configFiles: [{ name: 'agent.conf', text: '[DEFAULT]\nenable_auto_tls = False\n' }],
  },
])('$name: plain HTTP, and no certificate', async ({ version, configFiles }) => {
  const scene = new AgentScene({ configFiles })
  scene.ironic.next('root', { status: 200, headers: {}, body: JSON.stringify({ default_version: { version } }) })
  await listening(scene)
  await beaten(scene)
  expect(beats(scene)[0]).not.toHaveProperty('agent_verify_ca')
  expect(beats(scene)[0]!.callback_url).toMatch(/^http:/)
})

test('an agent that cannot be served by TLS says why and starts over', async () => {
  const messages: string[] = []
  const scene = new AgentScene({ logger: (_level, message) => messages.push(message) })
  let tries = 0
  scope.use(
    scene.start({
      tls: {
        serve: async () => {
          if (tries++ === 0) throw new Error('no entropy')
          return { certificate: 'PEM', key: 'KEY' }
        },
      },
    }),
  )
  await scene.clock.advance(0)
  expect(scene.agent.phase).toBe('gave up')
  expect(messages).toContain('cannot be served by TLS: no entropy; starting over')
  await scene.clock.advance(5000)
  expect(beats(scene)).toMatchObject([{ callback_url: 'https://agent:9999', agent_verify_ca: 'PEM' }])
})
