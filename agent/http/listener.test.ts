import { expect, test } from 'vitest'
import { systemClock, type Logger } from '../../base/runtime/index.js'
import { AgentScene } from '../../test/kit/agent-scene.js'
import { TOKEN } from '../../test/kit/fake-ironic.js'
import { AgentListener } from './listener.js'

test('agents share one listener, each below a path of its own', async () => {
  await using listener = await AgentListener.open({ port: 0, clock: systemClock() })
  await using scene = await new AgentScene({ callbackUrl: listener.urlOf('machine 1') }).serving()
  using _mounted = listener.mount('machine 1', scene.agent.dispatch)
  const url = `http://127.0.0.1:${listener.port}/machine%201`

  expect(JSON.parse(scene.ironic.of('heartbeat')[0]!.request.body!)).toMatchObject({ callback_url: url })
  expect(await (await fetch(url)).json()).toMatchObject({
    default_version: { links: [{ href: `${url}/v1` }, {}] },
  })
  const redirected = await fetch(`${url}/v1/commands?agent_token=${TOKEN}`, { redirect: 'manual' })
  expect([redirected.status, redirected.headers.get('location')]).toEqual([
    308,
    `${url}/v1/commands/?agent_token=${TOKEN}`,
  ])
  const posted = await fetch(`${url}/v1/commands/?wait=true&agent_token=${TOKEN}`, {
    method: 'POST',
    body: JSON.stringify({ name: 'standby.get_partition_uuids', params: {} }),
  })
  expect([posted.status, await posted.json()]).toMatchObject([200, { command_status: 'SUCCEEDED' }])
  await expect(fetch(`http://127.0.0.1:${listener.port}/other/v1/status`)).rejects.toThrow()
  const head = await fetch(`${url}/v1/status`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('a body that cannot be read is refused with a faultstring, which Ironic reads', async () => {
  const log: string[] = []
  const logger: Logger = (level, message) => void log.push(`${level}: ${message}`)
  await using listener = await AgentListener.open({ port: 0, clock: systemClock(), logger })
  await using scene = await new AgentScene({ callbackUrl: listener.urlOf(null) }).serving()
  using _mounted = listener.mount(null, scene.agent.dispatch)
  const post = async (init: RequestInit) => {
    const answer = await fetch(listener.url, { method: 'POST', ...init })
    return [answer.status, await answer.json()]
  }
  expect(await post({ body: new Uint8Array(65 * 2 ** 20) })).toEqual([
    413,
    { faultcode: 'Client', faultstring: '413 Payload Too Large: request entity too large' },
  ])
  expect(await post({ body: '{', headers: { 'content-encoding': 'nosuch' } })).toMatchObject([
    415,
    { faultcode: 'Client', faultstring: expect.stringMatching(/^415 Unsupported Media Type: /) as unknown },
  ])
  expect(log).toEqual([
    'warn: POST / was refused: 413 request entity too large',
    expect.stringMatching(/^warn: POST \/ was refused: 415 unsupported content encoding/),
  ])
  expect((await fetch(`${listener.url}/v1/status`)).status).toBe(200)
})
