import { expect, test } from 'vitest'
import { defined, systemClock } from '../../../base/runtime/index.js'
import { recordingOf, type ShortExchange } from '../../../test/kit/recordings.js'
import { ConnectionFailed, type OutgoingRequest } from '../../../base/wire/index.js'
import { sentenceOf } from '../comparison/difference.js'
import { IdMap } from '../comparison/ids.js'
import { replayClient, type PlayedCall, type ReplayOptions } from './replay-client.js'

const clock = systemClock()
const THEN = 'aaaaaaaa-0000-4000-8000-000000000001'
const NOW = 'bbbbbbbb-0000-4000-8000-000000000001'

interface Answered {
  status?: number
  body?: unknown
  headers?: Record<string, string>
}

/** Replays against a function that answers. */
async function replayed(
  exchanges: readonly ShortExchange[],
  answer: (request: OutgoingRequest & { path: string; json: unknown }, count: number) => Answered,
  more: Partial<ReplayOptions> = {},
) {
  const requests: string[] = []
  const calls: PlayedCall[] = []
  const { differences } = await replayClient({
    recording: recordingOf(...exchanges),
    url: 'http://ironic',
    ids: new IdMap(),
    clock,
    settle: 0,
    wait: 2000,
    credentials: {},
    secrets: new Map(),
    signal: new AbortController().signal,
    onCall: (call) => calls.push(call),
    transport: {
      send: (request) => {
        const path = request.url.slice('http://ironic'.length)
        requests.push(`${request.method} ${path}${request.body === undefined ? '' : ` ${request.body}`}`)
        const json: unknown = request.body === undefined ? undefined : JSON.parse(request.body)
        const { status = 200, body, headers = {} } = answer({ ...request, path, json }, requests.length)
        return Promise.resolve({
          status,
          headers,
          ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
        })
      },
    },
    ...more,
  })
  return { requests, calls, sentences: differences.map((one) => `#${one.seq} ${one.call}: ${sentenceOf(one)}`) }
}

const CREATED: ShortExchange = { method: 'POST', asks: { name: 'n' }, status: 201, answers: { uuid: THEN, name: 'n' } }
const PROVISIONED: ShortExchange = {
  method: 'PUT',
  target: `/v1/nodes/${THEN}/states/provision`,
  asks: { target: 'manage' },
  status: 202,
}
const node = (state: string, more = {}): ShortExchange => ({
  target: `/v1/nodes/${THEN}`,
  answers: { uuid: THEN, provision_state: state, ...more },
})

test('ids of the server stand in for the recorded ones; polls go on until the recorded state is there', async () => {
  let looks = 0
  const { requests, sentences, calls } = await replayed(
    [CREATED, PROVISIONED, node('verifying'), node('manageable')],
    ({ method }) => {
      if (method === 'POST') return { status: 201, body: { uuid: NOW, name: 'n' } }
      if (method === 'PUT') return { status: 202 }
      return { body: { uuid: NOW, provision_state: ++looks < 4 ? 'verifying' : 'manageable' } }
    },
  )
  expect(sentences).toEqual([])
  expect(requests).toEqual([
    'POST /v1/nodes {"name":"n"}',
    `PUT /v1/nodes/${NOW}/states/provision {"target":"manage"}`,
    ...Array<string>(4).fill(`GET /v1/nodes/${NOW}`),
  ])
  expect(calls.at(-1)!.states).toEqual({ was: ['verifying', 'manageable'], is: ['verifying', 'manageable'] })
})

test('differences of answers are listed: status, states, keys and values', async () => {
  const { sentences } = await replayed(
    [CREATED, PROVISIONED, node('manageable', { driver: 'ipmi', gone: 1 })],
    ({ method }) => {
      if (method === 'POST')
        return { status: 201, body: { uuid: NOW, name: 'n' }, headers: { location: 'http://ironic/v1/nodes' } }
      if (method === 'PUT') return { status: 200 }
      return { body: { uuid: NOW, provision_state: 'manageable', driver: 'redfish', added: true } }
    },
  )
  expect(sentences).toEqual([
    '#1 POST /v1/nodes: header.location is new: "http://ironic/v1/nodes"',
    '#2 PUT /v1/nodes/{node_ident}/states/provision: status was 202, is 200',
    '#3 GET /v1/nodes/{node_ident}: body.driver was "ipmi", is "redfish"',
    '#3 GET /v1/nodes/{node_ident}: body.gone is missing, was 1',
    '#3 GET /v1/nodes/{node_ident}: body.added is new: true',
  ])
})

test('a node that comes to rest elsewhere ends the wait, as does the limit', async () => {
  const failed = await replayed([node('active')], () => ({ body: { uuid: NOW, provision_state: 'deploy failed' } }))
  expect(failed.sentences).toEqual(['#1 GET /v1/nodes/{node_ident}: states was ["active"], is ["deploy failed"]'])
  const began = clock.elapsed()
  const stuck = await replayed([node('active')], () => ({ body: { uuid: NOW, provision_state: 'deploying' } }), {
    wait: 300,
  })
  expect(stuck.sentences).toEqual(['#1 GET /v1/nodes/{node_ident}: states was ["active"], is ["deploying"]'])
  expect(clock.elapsed() - began).toBeLessThan(2000)
})

test('a change that meets a lock is made again', async () => {
  const { sentences, requests } = await replayed([PROVISIONED], (_, count) => ({ status: count < 3 ? 409 : 202 }))
  expect(sentences).toEqual([])
  expect(requests).toHaveLength(3)
})

test('a refusal that was recorded is compared, also in its words', async () => {
  const fault = (text: string) => ({ error_message: JSON.stringify({ faultstring: text, faultcode: 'Client' }) })
  const { sentences } = await replayed([{ ...PROVISIONED, status: 409, answers: fault('locked') }], () => ({
    status: 409,
    body: fault('busy'),
  }))
  expect(sentences).toEqual([
    '#1 PUT /v1/nodes/{node_ident}/states/provision: body.error_message.faultstring was "locked", is "busy"',
  ])
})

test('credentials stand in for the recorded ones, and values for labels of secrets', async () => {
  const headers = { authorization: 'Basic ***1', 'x-openstack-ironic-api-version': '1.80', 'x-auth-token': '***3' }
  const sent: Record<string, string>[] = []
  const exchange: ShortExchange = {
    method: 'POST',
    asks: { driver_info: { redfish_password: '***2', redfish_address: 'x' } },
    status: 201,
  }
  const take = ({ headers: own }: OutgoingRequest): Answered => (sent.push({ ...own }), { status: 201 })
  const recording = recordingOf(exchange)
  Object.assign(recording.exchanges[0]!.request.headers, headers)
  const more = { recording, credentials: { authorization: 'Basic mine' }, secrets: new Map([['***2', 'hunter2']]) }
  const { requests } = await replayed([], take, more)
  expect(sent).toEqual([{ authorization: 'Basic mine', 'x-openstack-ironic-api-version': '1.80' }])
  expect(requests).toEqual(['POST /v1/nodes {"driver_info":{"redfish_password":"hunter2","redfish_address":"x"}}'])
})

test('how a server masks a secret is no difference; showing the secret is', async () => {
  const masked: ShortExchange = { answers: { driver_info: { redfish_password: '******' } } }
  const { sentences } = await replayed([masked], () => ({ body: { driver_info: { redfish_password: 'hunter2' } } }))
  expect(sentences).toEqual(['#1 GET /v1/nodes: body.driver_info.redfish_password was "******", is "***1"'])
})

test('a body that was not recorded is not sent', async () => {
  const recording = recordingOf({ method: 'PUT', target: '/v1/nodes/x/states/provision', asks: {} })
  Object.assign(recording.exchanges[0]!.request, { body: undefined, cut: true, bytes: 99 })
  const { requests, sentences } = await replayed([], () => ({}), { recording })
  expect(requests).toEqual([])
  expect(sentences).toEqual(['#1 PUT /v1/nodes/{node_ident}/states/provision: is not made any more'])
})

test('a server that is not there is a failure, not a difference; so is one that goes away', async () => {
  const gone = (from: number) => (_: unknown, count: number) => {
    if (count >= from) throw new ConnectionFailed('refused')
    return {}
  }
  await expect(replayed([PROVISIONED], gone(1))).rejects.toMatchObject({ code: 'replay-unreachable' })
  const calls = Array<ShortExchange>(5).fill(PROVISIONED)
  await expect(replayed(calls, gone(2))).rejects.toMatchObject({
    message: 'there is no answer from http://ironic to call 4',
  })
  await expect(replayed([{ from: 'agent' }], () => ({}))).rejects.toMatchObject({ code: 'nothing-to-replay' })
})
