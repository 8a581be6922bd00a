import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { BASE } from './replay.js'
import { openStage, type Stage } from './stage.js'

const MAC = '52:54:00:aa:bb:01'

/** Sends a request as an agent, and returns the status with the body or the error's sentence. */
async function call(
  stage: Stage,
  method: string,
  target: string,
  { version = '1.115', body }: { version?: string; body?: unknown } = {},
) {
  const response = await stage.api({
    method,
    target,
    headers: version === '' ? {} : { 'x-openstack-ironic-api-version': version },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    base: BASE,
  })
  const answer = response.body === undefined ? undefined : (JSON.parse(response.body) as Record<string, unknown>)
  const inner =
    answer && 'error_message' in answer
      ? (JSON.parse(String(answer.error_message)) as { faultstring?: string })
      : undefined
  return { status: response.status, body: answer as never, sentence: inner?.faultstring }
}

interface Answer {
  node: Record<string, unknown> & { driver_internal_info: Record<string, unknown> }
  config: Record<string, unknown> & { agent_token?: string }
}

async function aNode(stage: Stage, ...verbs: string[]): Promise<string> {
  const { uuid } = await stage.client.createNode({ driver: 'fake-hardware' })
  await stage.client.createPort({ node_uuid: uuid, address: MAC })
  for (const verb of verbs) {
    await stage.client.provision(uuid, verb)
    await stage.client.waitFor(uuid, ['manageable', 'inspect wait', 'clean wait'], { every: 5, timeout: 5000 })
  }
  return uuid
}

describe('lookup', () => {
  test('is refused alike to strangers and to nodes with which nothing is going on', async () => {
    await using stage = await openStage()
    const uuid = await aNode(stage)
    const nothing = { status: 404, sentence: 'Resource could not be found.' }
    expect(await call(stage, 'GET', `/v1/lookup?addresses=${MAC}`)).toMatchObject(nothing)
    expect(await call(stage, 'GET', `/v1/lookup?node_uuid=${uuid}`)).toMatchObject(nothing)
    expect(await call(stage, 'GET', '/v1/lookup?addresses=52:54:00:ff:ff:ff')).toMatchObject(nothing)
    for (const version of ['', '1.21'])
      expect(await call(stage, 'GET', `/v1/lookup?addresses=${MAC}`, { version })).toMatchObject(nothing)
  })

  test.each(['', '?addresses=', '?addresses=bad'])('without anything to go by (%s) it is a 400', async (query) => {
    await using stage = await openStage()
    expect(await call(stage, 'GET', `/v1/lookup${query}`)).toMatchObject({
      status: 400,
      sentence: "At least one of 'addresses' and 'node_uuid' parameters is required",
    })
  })

  test('hands the token out once, and shows neither it nor other secrets', async () => {
    await using stage = await openStage()
    const uuid = await aNode(stage, 'manage', 'inspect')
    const ask = async (query: string, version = '1.115') =>
      (await call(stage, 'GET', `/v1/lookup?${query}`, { version })).body as Answer

    const first = await ask(`addresses=${MAC},52:54:00:ff:ff:ff`)
    expect(Object.keys(first)).toEqual(['node', 'config'])
    expect(Object.keys(first.node)).toEqual(['uuid', 'properties', 'instance_info', 'driver_internal_info', 'links'])
    expect(first.node).toMatchObject({ uuid, driver_internal_info: { agent_secret_token: '******' } })
    expect(first.config.agent_token).toHaveLength(43)
    expect(first.config).toMatchObject({ heartbeat_timeout: 300, agent_token_required: true })

    expect((await ask(`addresses=${MAC}`)).config.agent_token).toBe('******')
    // The UUID wins over addresses that say otherwise.
    expect((await ask(`node_uuid=${uuid}&addresses=52:54:00:ff:ff:ff`)).node.uuid).toBe(uuid)
    // Upstream tells an agent below 1.62 the token in clear; ours does not.
    expect((await ask(`addresses=${MAC}`, '1.61')).config.agent_token).toBeNull()
  })
})

describe('heartbeat', () => {
  const alive = { callback_url: 'http://127.0.0.1:1', agent_version: '13.0.0', agent_token: 'x'.repeat(43) }

  test.each<[string, string, unknown, number, string]>([
    [
      'of nobody',
      '1.115',
      { ...alive, node: '00000000-0000-4000-8000-00000000dead' },
      404,
      'Node 00000000-0000-4000-8000-00000000dead could not be found.',
    ],
    ['without anything', '1.115', {}, 400, 'Missing mandatory parameter: callback_url'],
    [
      'from nowhere',
      '1.115',
      { ...alive, callback_url: 'ftp://x' },
      400,
      'An issue with the supplied "callback_url" has been detected.',
    ],
    [
      'without a token',
      '1.115',
      { ...alive, agent_token: null },
      400,
      'Agent token is required for heartbeat processing.',
    ],
    ['with another token', '1.115', alive, 400, 'Invalid or missing agent token received.'],
    [
      'with a status nobody knows',
      '1.115',
      { ...alive, agent_status: 'nosuch' },
      400,
      'Agent status is invalid. Valid states are start,end,error.',
    ],
    ['with more than it may say', '1.115', { ...alive, nosuch: 1 }, 400, 'Unexpected arguments: nosuch'],
    ['with a version below 1.36', '1.35', alive, 400, 'Field "agent_version" not recognised'],
    [
      'with a certificate below 1.68',
      '1.67',
      { ...alive, agent_verify_ca: 'x' },
      400,
      'Field "agent_verify_ca" not recognised in this version',
    ],
    ['below 1.22', '1.21', alive, 404, 'Resource could not be found.'],
    ['in no version', '', alive, 404, 'Resource could not be found.'],
  ])('%s is refused in the recorded words', async (_, version, body, status, sentence) => {
    await using stage = await openStage()
    const uuid = await aNode(stage)
    const { node = uuid, ...beat } = body as { node?: string }
    expect(await call(stage, 'POST', `/v1/heartbeat/${node}`, { version, body: beat })).toMatchObject({
      status,
      sentence,
    })
  })

  test('needs an ident, and is no GET', async () => {
    await using stage = await openStage()
    expect(await call(stage, 'POST', '/v1/heartbeat', { body: alive })).toMatchObject({
      status: 400,
      sentence: 'Missing mandatory parameter: node_ident',
    })
    expect(await call(stage, 'GET', '/v1/heartbeat/x')).toMatchObject({ status: 405 })
  })

  test('with the token that was given is taken, and the address it comes from must stay', async () => {
    await using stage = await openStage()
    const uuid = await aNode(stage, 'manage', 'provide')
    const found = (await call(stage, 'GET', `/v1/lookup?addresses=${MAC}`)).body as Answer
    const beat = { ...alive, agent_token: found.config.agent_token }
    expect(await call(stage, 'POST', `/v1/heartbeat/${uuid}`, { version: '1.68', body: beat })).toEqual({ status: 202 })
    expect(
      await call(stage, 'POST', `/v1/heartbeat/${uuid}`, { body: { ...beat, callback_url: 'http://127.0.0.1:2' } }),
    ).toMatchObject({ status: 400, sentence: 'Detected change in ramdisk provided "callback_url"' })
  })
})

describe('continue_inspection', () => {
  const inventory = { interfaces: [{ mac_address: MAC, name: 'eth0' }], cpu: { architecture: 'x86_64' } }
  const nothing = { status: 404, sentence: 'Resource could not be found.' }

  test.each<[unknown, string]>([
    [{}, "Schema error for data: 'inventory' is a required property"],
    [{ inventory: {} }, "Schema error for data: 'interfaces' is a required property"],
    [{ inventory: { interfaces: [] } }, 'Schema error for data: [] should be non-empty'],
    [{ inventory: { interfaces: [{ name: 'x' }] } }, "Schema error for data: 'mac_address' is a required property"],
    [{ inventory: { interfaces: [{ mac_address: 'bad' }] } }, 'No lookup information provided'],
    [[], "Schema error for data: [] is not of type 'object'"],
  ])('%j is refused in the recorded words', async (body, sentence) => {
    await using stage = await openStage()
    expect(await call(stage, 'POST', '/v1/continue_inspection', { body })).toMatchObject({ status: 400, sentence })
  })

  test('is taken once, from a node that waits for it', async () => {
    await using stage = await openStage()
    const uuid = await aNode(stage, 'manage')
    const post = (query = '', version = '1.115') =>
      call(stage, 'POST', `/v1/continue_inspection${query}`, { version, body: { inventory } })
    expect(await post()).toMatchObject(nothing)
    expect(await call(stage, 'GET', `/v1/nodes/${uuid}/inventory`)).toMatchObject({ status: 404 })

    await stage.client.provision(uuid, 'inspect')
    await stage.client.waitFor(uuid, ['inspect wait'], { every: 5, timeout: 5000 })
    expect(await post('', '1.83')).toMatchObject({ status: 404, sentence: 'API version 1.84 or newer is required' })
    expect(await post(`?node_uuid=${uuid}`, '')).toMatchObject({
      status: 404,
      sentence: 'API version 1.84 or newer is required',
    })
    const taken = await post(`?node_uuid=${uuid}`)
    expect(taken.status).toBe(202)
    expect((taken.body as Answer).node.uuid).toBe(uuid)
    expect((taken.body as Answer).config.agent_token).toHaveLength(43)
    expect(await post()).toMatchObject(nothing)

    const node = await stage.client.waitFor(uuid, ['manageable'], { every: 5, timeout: 5000 })
    expect(node).toMatchObject({ properties: { cpu_arch: 'x86_64' }, last_error: null })
    expect((await stage.client.inventory(uuid)).inventory).toMatchObject(inventory)
  })

  test('of an agent from before 1.84 is answered with the UUID alone', async () => {
    await using stage = await openStage()
    const uuid = await aNode(stage, 'manage', 'inspect')
    const taken = await call(stage, 'POST', '/v1/continue_inspection', { version: '', body: { inventory } })
    expect(taken).toEqual({ status: 202, body: { uuid } })
  })
})
