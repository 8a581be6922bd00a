import { expect, test } from 'vitest'
import { defined, systemClock } from '../../../base/runtime/index.js'
import { identity } from '../../../test/kit/recorder.js'
import { recordingOf, type ShortExchange } from '../../../test/kit/recordings.js'
import { HttpTransport, type OutgoingRequest } from '../../../base/wire/index.js'
import { sentenceOf } from '../comparison/difference.js'
import { IdMap } from '../comparison/ids.js'
import { agentScripts } from './agent-script.js'
import { replayAgents } from './replay-agent.js'

const clock = systemClock()
const THEN = 'aaaaaaaa-0000-4000-8000-000000000001'
const NOW = 'bbbbbbbb-0000-4000-8000-000000000001'

const agent = (more: ShortExchange): ShortExchange => ({ from: 'agent', to: 'ironic', ...more })
const ironic = (more: ShortExchange): ShortExchange => ({ from: 'ironic', to: 'agent', node: THEN, ...more })
const lookup = (status: number): ShortExchange =>
  agent({
    target: `/v1/lookup?addresses=52%3A54%3A00%3A00%3A00%3A01&node_uuid=${THEN}`,
    ...(status === 200
      ? { answers: { node: { uuid: THEN }, config: { heartbeat_timeout: 300, agent_token: '***1' } } }
      : { status }),
  })
const heartbeat = agent({
  method: 'POST',
  target: `/v1/heartbeat/${THEN}`,
  status: 202,
  asks: {
    callback_url: 'https://192.0.2.1:9999',
    agent_token: '***1',
    agent_version: '13.0.0',
    agent_verify_ca: 'PEM',
  },
})
const command = (name: string, params: unknown, status = 'RUNNING'): ShortExchange =>
  ironic({
    method: 'POST',
    target: '/v1/commands/?agent_token=***1',
    asks: { name, params },
    answers: { id: 'c1', command_status: status },
  })
const look = (status: string): ShortExchange =>
  ironic({
    target: '/v1/commands/?agent_token=***1',
    answers: { commands: [{ id: 'c1', command_status: status, node: THEN }] },
  })

const RECORDED = [
  agent({ target: '/', answers: { name: 'OpenStack Ironic API' } }),
  lookup(409),
  lookup(200),
  heartbeat,
  heartbeat,
  command('clean.execute_clean_step', { node: { uuid: THEN } }),
  look('RUNNING'),
  look('SUCCEEDED'),
  heartbeat,
]

/** An Ironic that sends these commands after the first heartbeat. */
async function played(send: (callback: string, ironic: HttpTransport) => Promise<void>) {
  const requests: string[] = []
  let beats = 0
  let sending = Promise.resolve()
  const own: AsyncDisposable[] = []
  const answer = ({ method, url, body }: OutgoingRequest): { status: number; body?: unknown } => {
    const path = url.slice('http://ironic'.length)
    requests.push(`${method} ${path}`)
    if (path === '/') return { status: 200, body: { name: 'OpenStack Ironic API' } }
    if (path.startsWith('/v1/lookup'))
      return {
        status: 200,
        body: { node: { uuid: NOW }, config: { heartbeat_timeout: 300, agent_token: 'token-of-this-run' } },
      }
    const beat = JSON.parse(body!) as { callback_url: string; agent_token: string; agent_verify_ca: string }
    expect(beat).toMatchObject({
      agent_token: 'token-of-this-run',
      agent_verify_ca: expect.stringMatching(/^-----BEGIN/) as string,
    })
    if (++beats === 1) {
      const transport = new HttpTransport({ clock, tls: { ca: beat.agent_verify_ca } })
      own.push(transport)
      sending = send(beat.callback_url, transport)
    }
    return { status: 202 }
  }
  const { differences } = await replayAgents({
    recording: recordingOf(...RECORDED),
    url: 'http://ironic',
    ids: new IdMap(),
    clock,
    identity,
    wait: 1000,
    credentials: {},
    secrets: new Map<string, string>(),
    signal: new AbortController().signal,
    transport: {
      send: (request) => {
        const { status, body } = answer(request)
        return Promise.resolve({
          status,
          headers: {},
          ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
        })
      },
    },
  })
  await sending
  for (const each of own) await each[Symbol.asyncDispose]()
  return { requests, sentences: differences.map((one) => `#${one.seq} ${one.call}: ${sentenceOf(one)}`) }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const post = (ironic: HttpTransport, callback: string, name: string, params: unknown) =>
  ironic.send({
    method: 'POST',
    url: `${callback}/v1/commands/?agent_token=token-of-this-run`,
    headers: JSON_TYPE,
    body: JSON.stringify({ name, params }),
  })

test('an agent is played by TLS: looked up, with the token of this run, and answers commands as recorded', async () => {
  const seen: unknown[] = []
  const { requests, sentences } = await played(async (callback, transport) => {
    seen.push(JSON.parse((await post(transport, callback, 'clean.execute_clean_step', { node: { uuid: NOW } })).body!))
    const url = `${callback}/v1/commands/?agent_token=token-of-this-run`
    seen.push(JSON.parse((await transport.send({ method: 'GET', url, headers: {} })).body!))
  })
  expect(sentences).toEqual([])
  expect(seen).toEqual([
    { id: 'c1', command_status: 'RUNNING' },
    { commands: [{ id: 'c1', command_status: 'SUCCEEDED', node: NOW }] },
  ])
  expect(requests.filter((one) => !one.includes('heartbeat'))).toEqual([
    'GET /',
    'GET /',
    'GET /v1/lookup?addresses=52%3A54%3A00%3A00%3A00%3A01',
  ])
  expect(requests.at(-1)).toBe(`POST /v1/heartbeat/${NOW}`)
})

test('commands that are asked otherwise, that are new and that do not come are differences', async () => {
  const other = await played(async (callback, transport) => {
    expect(await post(transport, callback, 'standby.sync', {})).toMatchObject({ status: 404 })
    await post(transport, callback, 'clean.execute_clean_step', { node: { uuid: NOW }, more: 1 })
  })
  expect(other.sentences).toEqual([
    '#6 POST /v1/commands/ standby.sync: is made in addition',
    '#6 POST /v1/commands/ clean.execute_clean_step: request.params.more is new: 1',
  ])
  const none = await played(() => Promise.resolve())
  expect(none.sentences).toEqual(['#6 POST /v1/commands/ clean.execute_clean_step: is not made any more'])
})

test('the exchanges of two agents side by side are told apart', () => {
  const inventory = (mac: string): ShortExchange =>
    agent({
      method: 'POST',
      target: '/v1/continue_inspection',
      asks: { inventory: { interfaces: [{ mac_address: mac }] } },
      status: 202,
    })
  const scripts = agentScripts(
    recordingOf(inventory('52:54:00:00:00:02'), ...RECORDED, inventory('52:54:00:00:00:01'), { target: '/v1/nodes' })
      .exchanges,
  )
  expect(scripts.map(({ name, exchanges }) => [name, exchanges.map(({ seq }) => seq)])).toEqual([
    ['52:54:00:00:00:02', [1]],
    [THEN, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
  ])
})
