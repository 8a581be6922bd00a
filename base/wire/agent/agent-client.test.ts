import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../runtime/index.js'
import { ConnectionFailed, type OutgoingRequest, type WireResponse } from '../wire-exchange.js'
import { agentClient } from './agent-client.js'

const PEER = { url: 'http://192.0.2.1:9999', token: 'a+b', node: 'n1' }
const COMMAND = {
  id: '1',
  command_name: 'execute_deploy_step',
  command_status: 'RUNNING',
  command_error: null,
  command_result: null,
}

/** An agent that answers with these, one after the other; a function throws or waits. */
function agent(...answers: ([number, unknown] | ((request: OutgoingRequest) => Promise<WireResponse>))[]) {
  const seen: OutgoingRequest[] = []
  const clock = new VirtualClock()
  const transport = {
    send: (request: OutgoingRequest): Promise<WireResponse> => {
      seen.push(request)
      const answer = answers.shift()!
      if (typeof answer === 'function') return answer(request)
      const [status, body] = answer
      return Promise.resolve({ status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) })
    },
  }
  return { client: agentClient({ transport, clock, timeout: 60_000, attempts: 3 }), seen, clock }
}
const refused = () => Promise.reject(new ConnectionFailed('connection refused'))
const hangs = (request: OutgoingRequest) =>
  new Promise<never>((_, reject) =>
    request.signal?.addEventListener('abort', () => reject(request.signal?.reason as Error)),
  )

test('a command goes to the path with a trailing slash, with token and wait in the query', async () => {
  const { client, seen } = agent([200, COMMAND], [200, { commands: [COMMAND] }])
  expect(await client.execute(PEER, 'deploy.execute_deploy_step', { step: {} }, { wait: true })).toEqual(COMMAND)
  expect(await client.commands({ ...PEER, token: undefined })).toEqual([COMMAND])
  expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
    [
      'POST',
      'http://192.0.2.1:9999/v1/commands/?wait=true&agent_token=a%2Bb',
      '{"name":"deploy.execute_deploy_step","params":{"step":{}}}',
    ],
    ['GET', 'http://192.0.2.1:9999/v1/commands/', undefined],
  ])
})

describe('what the agent refuses', () => {
  test.each<[string, [number, unknown], string, string]>([
    ['busy by status', [409, { faultstring: 'x' }], 'AgentInProgress', 'Agent is presently executing a command'],
    [
      'busy by its words',
      [500, { faultstring: 'Agent is busy: executing command x' }],
      'AgentInProgress',
      'Agent is busy',
    ],
    [
      'anything else',
      [400, { faultstring: 'Invalid command: no' }],
      'AgentApiError',
      'HTTP status code 400 with error: Invalid command: no',
    ],
    [
      'without a faultstring',
      [500, { error: 1 }],
      'AgentAnswerUnreadable',
      "argument of type 'NoneType' is not iterable",
    ],
    [
      'no JSON',
      [502, '<html>'],
      'AgentAnswerUnreadable',
      'Unable to decode response as JSON.\nRequest URL: http://192.0.2.1:9999/v1/commands/\nResponse status code: 502\nResponse: "<html>"',
    ],
    ['no command', [200, { hello: 1 }], 'AgentAnswerUnreadable', 'something that is no command'],
  ])('throws the error of Ironic for %s', async (_, answer, name, message) => {
    const { client, seen } = agent(answer)
    await expect(client.execute(PEER, 'a.b', {})).rejects.toMatchObject({
      name,
      message: expect.stringContaining(message) as string,
    })
    expect(seen).toHaveLength(1)
  })
})

test('quotes the beginning of an answer that is no JSON, and nothing of the request', async () => {
  const { client } = agent([200, `<html>${'x'.repeat(1000)}`])
  const failure: Error = await client.execute(PEER, 'a.b', { node: { password: 'hunter2' } }).then(
    () => expect.unreachable(),
    (error: Error) => error,
  )
  expect(failure.message).toContain(`Response: "<html>${'x'.repeat(194)}"`)
  expect(failure.message).not.toContain('hunter2')
})

describe('a list of commands that is none: the words of Python, whatever the status', () => {
  test.each<[string, number, string, string]>([
    ['nothing', 500, '', 'Expecting value: line 1 column 1 (char 0)'],
    ['a page', 502, '\n <html>', 'Expecting value: line 2 column 2 (char 2)'],
    ['half an answer', 200, '{"comm', 'Expecting value: line 1 column 7 (char 6)'],
    ['an error', 503, '{"faultstring": "not now"}', "'commands'"],
    ['another document', 200, '[]', 'something that is no command'],
  ])('%s', async (_, status, body, message) => {
    const { client, seen } = agent([status, body])
    await expect(client.commands(PEER)).rejects.toMatchObject({
      name: 'AgentAnswerUnreadable',
      message: expect.stringContaining(message) as string,
    })
    expect(seen).toHaveLength(1)
  })
})

describe('nobody answers', () => {
  test('three times, then the list is asked too', async () => {
    const { client, seen } = agent(refused, refused, refused, refused)
    await expect(client.execute(PEER, 'clean.get_clean_steps', {})).rejects.toMatchObject({
      name: 'AgentConnectionFailed',
      message:
        'Connection to agent failed: Failed to connect to the agent running on node n1 for invoking command clean.get_clean_steps. Error: connection refused',
    })
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'GET'])
  })

  test('a command that shows up running had been received', async () => {
    const { client } = agent(refused, refused, refused, [200, { commands: [COMMAND] }])
    expect(await client.execute(PEER, 'deploy.execute_deploy_step', {})).toEqual(COMMAND)
  })

  test('another command in the list is no answer', async () => {
    const { client } = agent(refused, refused, refused, [200, { commands: [{ ...COMMAND, command_name: 'other' }] }])
    await expect(client.execute(PEER, 'deploy.execute_deploy_step', {})).rejects.toMatchObject({
      name: 'AgentConnectionFailed',
    })
  })

  test('the second time it works', async () => {
    const { client } = agent(refused, [200, COMMAND])
    expect(await client.execute(PEER, 'deploy.execute_deploy_step', {})).toEqual(COMMAND)
  })

  test('within the time limit', async () => {
    const { client, clock, seen } = agent(hangs, hangs, hangs)
    await expect(clock.until(client.commands(PEER))).rejects.toThrow('no answer within 60 s')
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET'])
    expect(clock.elapsed()).toBe(180_000)
  })
})

test('an aborted wait rejects with its own reason', async () => {
  const { client } = agent(hangs)
  const stop = new AbortController()
  const waiting = client.execute(PEER, 'a.b', {}, { signal: stop.signal })
  stop.abort(new Error('stopped'))
  await expect(waiting).rejects.toThrow('stopped')
})
