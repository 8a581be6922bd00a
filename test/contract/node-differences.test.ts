import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { ironicSentence } from '../../base/wire/index.js'
import { BASE } from './replay.js'
import { openStage, type Stage } from './stage.js'

/** Differences from upstream on purpose in what nodes have; rows of docs/fidelity/. */

async function ask(stage: Stage, method: string, target: string, body?: unknown) {
  const response = await stage.api({
    method,
    target,
    base: BASE,
    headers: { 'x-openstack-ironic-api-version': '1.115' },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  })
  const refused = response.status >= 400 ? { sentence: ironicSentence(response) } : {}
  return { status: response.status, body: JSON.parse(response.body ?? 'null') as unknown, ...refused }
}

async function withNode(fields: object = {}): Promise<Stage> {
  const stage = await openStage()
  await stage.client.createNode({ driver: 'fake-hardware', name: 'n', ...fields })
  return stage
}

test.each([
  ['a null conductor_group', [{ op: 'add', path: '/conductor_group', value: null }], 200],
  ['a removed conductor_group', [{ op: 'remove', path: '/conductor_group' }], 200],
  ['a null description', [{ op: 'add', path: '/description', value: null }], 200],
  ['a null maintenance', [{ op: 'add', path: '/maintenance', value: null }], 200],
  ['a removed maintenance', [{ op: 'remove', path: '/maintenance' }], 200],
  ['a description that is a number', [{ op: 'add', path: '/description', value: 5 }], 400],
])('%s of a node is let be, where upstream trips (500)', async (_, patch, status) => {
  await using stage = await withNode()
  expect(await ask(stage, 'PATCH', '/v1/nodes/n', patch)).toMatchObject({ status })
})

test('a list accepts and refuses the fields that a single node does', async () => {
  await using stage = await withNode()
  const fields = 'conductor,allocation_uuid,chassis_uuid'
  for (const path of ['/v1/nodes', '/v1/nodes/n'])
    expect(await ask(stage, 'GET', `${path}?fields=${fields}`)).toMatchObject({ status: 200 })
  for (const name of ['links', 'ports', 'states', 'portgroups', 'volume'])
    for (const path of ['/v1/nodes', '/v1/nodes/n'])
      expect(await ask(stage, 'GET', `${path}?fields=${name}`)).toMatchObject({
        status: 400,
        sentence: `Field ${name} is not a valid field.`,
      })
})

test('words that are no nodes', async () => {
  await using stage = await withNode()
  expect(await ask(stage, 'GET', '/v1/nodes/detail/x')).toMatchObject({ status: 404 })
  expect(await ask(stage, 'DELETE', '/v1/nodes/detail')).toMatchObject({ status: 405 })
  expect(await ask(stage, 'GET', '/v1/nodes/states')).toMatchObject({ status: 400 })
  expect(await ask(stage, 'GET', '/v1/nodes/validate')).toMatchObject({
    status: 400,
    sentence: 'Expected a logical name or UUID but received None.',
  })
})

test('a vendor method takes an object, where upstream trips (500)', async () => {
  await using stage = await withNode()
  expect(await ask(stage, 'POST', '/v1/nodes/n/vendor_passthru/third_method_sync', [1])).toMatchObject({ status: 400 })
  expect(await ask(stage, 'POST', '/v1/nodes/n/vendor_passthru/third_method_sync/x', {})).toMatchObject({ status: 404 })
})

describe("vendor methods have upstream's names", () => {
  test.each([
    ['fake', ['fourth_method_shared_lock', 'log_passthrough', 'second_method', 'third_method_sync']],
    ['ipmitool', ['bmc_reset', 'send_raw']],
    [
      'redfish',
      ['create_subscription', 'delete_subscription', 'eject_vmedia', 'get_all_subscriptions', 'get_subscription'],
    ],
    ['no-vendor', []],
  ])('for the vendor interface %s', async (vendor_interface, names) => {
    await using stage = await withNode({ vendor_interface })
    const { body } = await ask(stage, 'GET', '/v1/nodes/n/vendor_passthru/methods')
    expect(Object.keys(body as object)).toEqual(names)
  })
})

test('a BMC that cannot be asked is a 502', async () => {
  await using stage = await openStage()
  const driver_info = { redfish_address: 'http://10.0.0.1', redfish_system_id: '/redfish/v1/Systems/x' }
  await stage.client.createNode({ driver: 'redfish', name: 'n', driver_info })
  for (const [method, path] of [
    ['GET', 'vmedia'],
    ['PUT', 'management/inject_nmi'],
    ['GET', 'management/indicators'],
  ] as const)
    expect(await ask(stage, method, `/v1/nodes/n/${path}`)).toMatchObject({
      status: 502,
      sentence: 'no machine answers at this address',
    })
})

test('steps of Redfish management are not known', async () => {
  await using stage = await openStage()
  const redfish = { management_interface: 'redfish', deploy_interface: 'fake' }
  await stage.client.createNode({
    driver: 'fake-hardware',
    name: 'n',
    inspect_interface: 'fake',
    ...redfish,
    driver_info: { redfish_address: 'http://10.0.0.1' },
  })
  const to = async (target: string, more: object = {}) => {
    await ask(stage, 'PUT', '/v1/nodes/n/states/provision', { target, ...more })
    for (let tries = 0; tries < 500; tries++) {
      const [node] = await stage.ironic.store.nodes({})
      if (node!.reservation === null) return node!
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    throw new Error(`${target} has not come to an end`)
  }
  await to('manage')
  const failed = await to('clean', { clean_steps: [{ interface: 'management', step: 'set_bmc_clock' }] })
  expect(failed.last_error).toContain('node does not support this clean step')
})

test.each(['states', 'states/console', 'management/boot_device'])(
  'the ident may come last, as tempest puts it: GET /v1/nodes/%s/IDENT',
  async (path) => {
    await using stage = await openStage()
    const { uuid } = await stage.client.createNode({ driver: 'fake-hardware' })
    const usual = await ask(stage, 'GET', `/v1/nodes/${uuid}/${path}`)
    expect(usual.status).toBe(200)
    expect(await ask(stage, 'GET', `/v1/nodes/${path}/${uuid}`)).toMatchObject({ status: 200, body: usual.body })
  },
)
