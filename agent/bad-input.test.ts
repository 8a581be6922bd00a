import { expect, test } from 'vitest'
import { defineStep } from '../steps/index.js'
import { AgentScene, PEERS_STEPS, testManager } from '../test/kit/agent-scene.js'
import { ask, TOKEN } from '../test/kit/fake-ironic.js'

/** Invalid requests: the answer has IPA's status and shape, the log has the cause, and the agent goes on. */

const strict = defineStep({
  name: 'strict',
  interface: 'deploy',
  on: ['deploy'],
  args: { properties: { size: { type: 'number', description: 'How much.' } }, required: ['size'] },
  run: () => Promise.resolve(null),
})

async function logging() {
  const log: string[] = []
  const scene = await new AgentScene({
    managers: [testManager('PeersHardwareManager', [...PEERS_STEPS, strict])],
    logger: (level, message) => log.push(`${level}: ${message}`),
  }).serving()
  log.length = 0
  return { scene, log }
}

/** Checks that the agent still takes a command and lists its commands. */
async function goesOn(scene: AgentScene): Promise<void> {
  expect(scene.agent.phase).toBe('serving')
  expect(await scene.command('deploy.get_deploy_steps', { node: {}, ports: [] })).toMatchObject({
    command_status: 'SUCCEEDED',
  })
  expect((await scene.commands()).at(-1)).toMatchObject({ command_status: 'SUCCEEDED' })
}

const BODY = JSON.stringify({ name: 'standby.sync', params: {} })
const RIGHT = `?agent_token=${TOKEN}`

test.each<[string, { method?: string; query?: string; body?: unknown; path?: string }, number, RegExp]>([
  ['no token', { query: '' }, 401, /^401 Unauthorized: Token invalid\.$/],
  ['an empty token', { query: '?agent_token=' }, 401, /Token invalid/],
  ['another token', { query: `?agent_token=${'A'.repeat(43)}` }, 401, /Token invalid/],
  ['a token that only begins alike', { query: `${RIGHT}x` }, 401, /Token invalid/],
  ['a token by another name', { query: '?token=x' }, 401, /Token invalid/],
  ['reading without a token', { method: 'GET', query: '' }, 401, /Token invalid/],
  ['no JSON', { body: '{"name": ' }, 400, /^400 Bad Request: Failed to decode JSON object: /],
  ['an empty body', { body: '' }, 400, /Failed to decode JSON object/],
  ['a list', { body: [] }, 400, /Missing or invalid name or params/],
  ['no name', { body: { params: {} } }, 400, /Missing or invalid name or params/],
  ['no params', { body: { name: 'standby.sync' } }, 400, /Missing or invalid name or params/],
  ['params that are a list', { body: { name: 'standby.sync', params: [] } }, 400, /Missing or invalid name or params/],
  ['a name without a dot', { body: { name: 'sync', params: {} } }, 400, /must be of the form <extension>\.<name>/],
  ['an unknown extension', { body: { name: 'iscsi.start', params: {} } }, 404, /Extension with id iscsi not found/],
  ['an extension of Object', { body: { name: 'constructor.name', params: {} } }, 404, /id constructor not found/],
  ['an unknown command', { body: { name: 'standby.dance', params: {} } }, 400, /Unknown command: dance/],
  ['a command of Object', { body: { name: 'standby.toString', params: {} } }, 400, /Unknown command: toString/],
  ['an unknown result', { method: 'GET', path: '/v1/commands/nope' }, 404, /Command Result with id nope not found/],
  ['an unknown path', { method: 'GET', path: '/v2/commands/' }, 404, /^404 Not Found/],
  ['another method', { method: 'DELETE' }, 405, /^405 Method Not Allowed/],
])(
  'a request with %s is refused as IPA refuses it',
  async (_, { method = 'POST', query = RIGHT, body = BODY, path = '/v1/commands/' }, status, sentence) => {
    const { scene, log } = await logging()
    await using _scene = scene
    const answer = await ask(scene.agent.dispatch, method, path + query, method === 'GET' ? undefined : body)
    expect(answer).toMatchObject({
      status,
      body: { faultcode: 'Client', faultstring: expect.stringMatching(sentence) },
    })
    const { faultstring } = answer.body as { faultstring: string }
    expect(log).toEqual([`warn: ${method} ${path} was refused: ${faultstring}`])
    expect(log.join()).not.toContain('A'.repeat(43))
    await goesOn(scene)
    expect(await scene.commands()).toHaveLength(1)
  },
)

const node = { uuid: 'n' }
test.each<[string, string, object, RegExp]>([
  ['a step without a name', 'deploy.execute_deploy_step', { step: { args: {} }, node, ports: [] }, /no "step" key/],
  ['a step that is a text', 'deploy.execute_deploy_step', { step: 'strict', node, ports: [] }, /Malformed deploy_step/],
  ['a step that is null', 'clean.execute_clean_step', { step: null, node, ports: [] }, /Malformed clean_step/],
  ['a step named by a number', 'deploy.execute_deploy_step', { step: { step: 5 }, node, ports: [] }, /TypeError/],
  ['no step', 'deploy.execute_deploy_step', { node, ports: [] }, /needs the parameters step/],
  ['no node', 'deploy.execute_deploy_step', { step: { step: 'strict' }, ports: [] }, /needs the parameters node/],
  [
    'arguments that the step does not know',
    'deploy.execute_deploy_step',
    { step: { step: 'strict', args: { size: 1, sise: 2 } }, node, ports: [] },
    /strict has these unexpected arguments: sise/,
  ],
  [
    'an argument of the wrong type',
    'deploy.execute_deploy_step',
    { step: { step: 'strict', args: { size: 'big' } }, node, ports: [] },
    /size.*must be number/,
  ],
  [
    'a missing argument',
    'deploy.execute_deploy_step',
    { step: { step: 'strict' }, node, ports: [] },
    /strict.*(missing|required|needs).*size/,
  ],
  [
    'arguments that are a text',
    'deploy.execute_deploy_step',
    { step: { step: 'strict', args: 'size' }, node, ports: [] },
    /args is not an object/,
  ],
  ['parameters it does not know', 'clean.get_clean_steps', { node, ports: [], more: 1 }, /has no parameters more/],
])('%s: the command has failed, and says why', async (_, name, params, details) => {
  const { scene, log } = await logging()
  await using _scene = scene
  expect((await scene.post(name, params)).status).toBe(200)
  await scene.clock.advance(0)
  const failed = (await scene.commands()).at(-1)!
  expect(failed).toMatchObject({ command_status: 'FAILED', command_error: { details: expect.stringMatching(details) } })
  expect(Object.keys(failed.command_error!).sort()).toEqual(['code', 'details', 'message', 'type'])
  expect(log.filter((line) => details.test(line))).not.toEqual([])
  await goesOn(scene)
})

test.each<[string, unknown, unknown]>([
  ['nothing in it', {}, []],
  ['null everywhere', { uuid: null, instance_info: null, properties: null, driver_internal_info: null }, null],
  ['other types', { uuid: 5, instance_info: [], properties: 'x', driver_internal_info: 7 }, {}],
  ['hints that are none', { properties: { root_device: 'sda' } }, [null, 5]],
  ['a list for a node', [], 'ports'],
  ['a text for a node', 'node-1', { address: 1 }],
])('a node with %s: steps that need nothing of it work, and the agent continues', async (_, odd, ports) => {
  const { scene } = await logging()
  await using _scene = scene
  expect(await scene.command('deploy.get_deploy_steps', { node: odd, ports })).toMatchObject({
    command_status: 'SUCCEEDED',
  })
  await scene.command('deploy.execute_deploy_step', { step: { step: 'peers_noop' }, node: odd, ports })
  await scene.clock.advance(0)
  expect((await scene.commands()).at(-1)).toMatchObject({ command_status: 'SUCCEEDED' })
  await goesOn(scene)
})
