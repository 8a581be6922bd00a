import { describe, expect, test } from 'vitest'
import { nodeWithHints, type StepSurroundings } from '../steps/index.js'
import { AgentScene, testManager, testStep } from '../test/kit/agent-scene.js'
import { ironicError, NODE, TOKEN } from '../test/kit/fake-ironic.js'

/** Answer to a lookup, with these members of the node and its configuration. */
const answer = (node: object, config: object = {}, token = TOKEN) => ({
  status: 200,
  headers: {},
  body: JSON.stringify({
    node: { uuid: NODE, properties: {}, ...node },
    config: { heartbeat_timeout: 300, agent_token: token, ...config },
  }),
})

/** An agent with a step that hands its context to the test. */
async function scene(config: object = {}, parameters: Record<string, string> = {}) {
  const seen: { images?: StepSurroundings['images']; node?: unknown } = {}
  const look = testStep('look', async (context) => {
    seen.images = context.images
    seen.node = await nodeWithHints(context)
    return null
  })
  const scene = new AgentScene({ managers: [testManager('M', [look])] })
  scene.ironic.next('lookup', answer({}, config))
  const boot = { id: 'boot-1', parameters: { 'ipa-api-url': 'http://ironic:6385', ...parameters } }
  const options = { boot }
  await scene.serving(options)
  return {
    scene,
    seen,
    restarted: async () => {
      await scene.agent.stop()
      await scene.serving(options)
    },
    run: async (node: object = {}) => {
      const params = { step: { step: 'look', interface: 'deploy', args: {} }, node, ports: [] }
      await scene.post('deploy.execute_deploy_step', params, true)
      return seen
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  }
}

describe('rules of Ironic for images', () => {
  test.each([
    ['nothing, from an Ironic that says nothing of them', {}, { md5: false, formats: null }],
    ['MD5', { agent_md5_checksum_enable: true }, { md5: true, formats: null }],
    ['these formats', { permitted_image_formats: ['raw', 'qcow2'] }, { md5: false, formats: ['raw', 'qcow2'] }],
    [
      'any format, where images are not looked into',
      { permitted_image_formats: ['raw'], disable_deep_image_inspection: true },
      { md5: false, formats: null },
    ],
  ])('after a lookup the agent applies %s', async (_, config, images) => {
    await using agent = await scene(config)
    expect(await agent.run()).toMatchObject({ images })
    // A restart on the same boot makes no lookup.
    await agent.restarted()
    expect(await agent.run()).toMatchObject({ images })
  })
})

describe('a node without root device hints', () => {
  const hints = { root_device: { serial: 'S1' } }

  test('is looked up again by its uuid, for hints that were added since', async () => {
    await using agent = await scene()
    agent.scene.ironic.next('lookup', answer({ properties: hints }, {}, '******'))
    expect(await agent.run({ name: 'n', properties: { cpu_arch: 'x86_64' } })).toMatchObject({
      node: { name: 'n', properties: { cpu_arch: 'x86_64', ...hints } },
    })
    const again = agent.scene.ironic.of('lookup').at(-1)!.request.url
    expect(again).toContain('addresses=52%3A54%3A00%3Aaa%3Abb%3A01%2C52%3A54%3A00%3Aaa%3Abb%3A02')
    expect(again).toContain(`node_uuid=${NODE}`)
    // The token is unchanged.
    expect(await agent.scene.commands()).toHaveLength(1)
  })

  test('continues without hints when there are none, or the lookup fails', async () => {
    await using agent = await scene()
    expect(await agent.run({ name: 'n' })).toMatchObject({ node: { name: 'n' } })
    agent.scene.ironic.next('lookup', ironicError(404, 'gone'))
    expect(await agent.run({ name: 'm' })).toMatchObject({ node: { name: 'm' } })
    expect(agent.scene.ironic.of('lookup')).toHaveLength(3)
  })

  test('is not looked up again when it has hints', async () => {
    await using agent = await scene()
    expect(await agent.run({ instance_info: hints })).toMatchObject({ node: { instance_info: hints } })
    expect(agent.scene.ironic.of('lookup')).toHaveLength(1)
  })
})
