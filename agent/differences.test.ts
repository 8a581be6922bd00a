import { expect, test } from 'vitest'
import { defineStep, managersWith } from '../steps/index.js'
import { AgentScene } from '../test/kit/agent-scene.js'
import { ask, ironicError, TOKEN } from '../test/kit/fake-ironic.js'

const OWN = { className: 'OwnManager', name: 'own', version: '1', support: () => Promise.resolve(5) }

/** Intended differences from ironic-python-agent that its recordings do not show; rows of docs/fidelity/. */

const inspecting = (parameters: Record<string, string>) => ({
  boot: {
    id: 'boot-1',
    parameters: {
      'ipa-api-url': 'http://ironic:6385',
      'ipa-inspection-callback-url': 'http://ironic:6385/v1/continue_inspection',
      ...parameters,
    },
  },
})

test('collectors that this agent lacks are left out, and not listed as having run', async () => {
  await using scene = await new AgentScene(inspecting({ 'ipa-inspection-collectors': 'default,my-own' })).serving()
  const data = JSON.parse(scene.ironic.of('inspect')[0]!.request.body!) as Record<string, unknown>
  expect(data).toMatchObject({ configuration: { collectors: ['default'] }, error: null })
})

test('before its lookup an agent answers 503, where IPA has not opened its port', async () => {
  await using scene = new AgentScene()
  scene.ironic.next('lookup', 'silent')
  await scene.serving()
  expect(await scene.get('/v1/status')).toMatchObject({
    status: 503,
    body: { faultcode: 'Server', faultstring: expect.stringContaining('not') as unknown },
  })
})

test('an Ironic that does not answer GET / is called again', async () => {
  await using scene = new AgentScene()
  scene.ironic.next('root', 'refused', ironicError(500, 'starting'), 'refused')
  scene.start()
  await scene.clock.advance(60_000)
  expect(scene.ironic.of('root')).toHaveLength(4)
  expect(scene.agent.phase).toBe('serving')
})

test.each([5, null, ['a'], {}])('a command named %j is a 400, where IPA trips (500)', async (name) => {
  await using scene = await new AgentScene().serving()
  expect(await scene.post(name as string)).toMatchObject({ status: 400, body: { faultcode: 'Client' } })
})

test('a node without uuid is accepted, where IPA does not find its extension (404) or the step fails', async () => {
  await using scene = await new AgentScene().serving()
  const nodeless = { node: {}, ports: [] }
  expect(await scene.post('clean.get_clean_steps', nodeless)).toMatchObject({ status: 200 })
  const posted = await scene.post('clean.execute_clean_step', { ...nodeless, step: { step: 'peers_noop' } })
  expect(posted).toMatchObject({ status: 200, body: { command_status: 'RUNNING' } })
  await scene.clock.advance(0)
  expect((await scene.commands()).at(-1)).toMatchObject({ command_status: 'SUCCEEDED' })
})

test.each([
  { args: { more: 1 }, says: 'step peers_noop has these unexpected arguments: more' },
  { args: 'more', says: 'args is not an object' },
  { args: undefined, further: { more: 1 }, says: 'step peers_noop has these unexpected arguments: more' },
])('arguments $args and $further are refused in our own words, not in Python’s', async ({ args, further, says }) => {
  const noop = defineStep({ name: 'peers_noop', interface: 'deploy', on: ['clean'], run: () => Promise.resolve(null) })
  await using scene = await new AgentScene({ managers: managersWith({ ...OWN, steps: [noop] }) }).serving()
  const step = { step: 'peers_noop', args }
  await scene.post('clean.execute_clean_step', { step, node: { uuid: 'x' }, ports: [], ...further })
  await scene.clock.advance(0)
  expect((await scene.commands()).at(-1)).toMatchObject({ command_status: 'FAILED', command_error: { details: says } })
})

test.each(['null', '5', 'true'])('a body that is %j is a 400, where IPA trips (500)', async (text) => {
  await using scene = await new AgentScene().serving()
  expect(await ask(scene.agent.dispatch, 'POST', `/v1/commands/?agent_token=${TOKEN}`, text)).toMatchObject({
    status: 400,
    body: { faultcode: 'Client', faultstring: '400 Bad Request: Missing or invalid name or params' },
  })
})

test.each([
  ['NaN', /Unexpected token 'N'/],
  ['Infinity', /Unexpected token 'I'/],
  ["'text'", /Unexpected token '''/],
])('a body with %s is refused in the words of our parser', async (value, words) => {
  await using scene = await new AgentScene().serving()
  const text = `{"name": "standby.sync", "params": {"a": ${value}}}`
  expect(await ask(scene.agent.dispatch, 'POST', `/v1/commands/?agent_token=${TOKEN}`, text)).toMatchObject({
    status: 400,
    body: { faultcode: 'Client', faultstring: expect.stringMatching(words) as string },
  })
})

test('a body of 50,000 nested lists is a 400', async () => {
  const text = `{"name": "standby.sync", "params": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`
  await using scene = await new AgentScene().serving()
  expect(await ask(scene.agent.dispatch, 'POST', `/v1/commands/?agent_token=${TOKEN}`, text)).toMatchObject({
    status: 400,
    body: { faultcode: 'Client', faultstring: expect.stringContaining('nested more than 500 levels deep') as string },
  })
})

test.each([
  ['/v1//commands?agent_token=x', 308, '/v1/commands/?agent_token=x'],
  ['//', 200, undefined],
  ['//v1/status', 400, undefined],
  ['/v1/%73tatus', 200, undefined],
  ['/v1%2fstatus', 404, undefined],
])('GET %s: %i, as IPA', async (path, status, location) => {
  await using scene = await new AgentScene().serving()
  const answer = await ask(scene.agent.dispatch, 'GET', path)
  expect(answer.status).toBe(status)
  expect(answer.headers.location).toBe(location && `http://127.0.0.1:17999${location}`)
})
