import { expect, test } from 'vitest'
import { AgentScene } from '../test/kit/agent-scene.js'
import { ironicError } from '../test/kit/fake-ironic.js'

/** Differences from ironic-python-agent on purpose that its recordings do not show; rows of docs/fidelity.md. */

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

test('collectors that this agent lacks are left out, and are not said to have run', async () => {
  await using scene = await new AgentScene(
    inspecting({ 'ipa-inspection-collectors': 'default,extra-hardware' }),
  ).serving()
  const data = JSON.parse(scene.ironic.of('inspect')[0]!.request.body!) as Record<string, unknown>
  expect(data).toMatchObject({ configuration: { collectors: ['default'] }, error: null })
  expect(data).not.toHaveProperty('data')
})

test('before it was looked up an agent answers 503, where IPA has not opened its port', async () => {
  await using scene = new AgentScene()
  scene.ironic.next('lookup', 'silent')
  await scene.serving()
  expect(await scene.get('/v1/status')).toMatchObject({
    status: 503,
    body: { faultcode: 'Server', faultstring: expect.stringContaining('not') as unknown },
  })
})

test('an Ironic that does not answer GET / is asked again', async () => {
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
