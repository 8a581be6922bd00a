import { expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { BASE } from './replay.js'
import { openStage, type Stage } from './stage.js'

/** The headers of gophercloud; discovery carries neither of the version headers. */
const gophercloud = {
  'x-openstack-ironic-api-version': '1.110',
  'openstack-api-version': 'baremetal 1.110',
  accept: 'application/json',
  'user-agent': 'gophercloud/v2.13.0',
}

async function ask(
  stage: Stage,
  method: string,
  target: string,
  body?: unknown,
  headers: Record<string, string> = gophercloud,
) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const response = await stage.api({
    method,
    target,
    headers,
    base: BASE,
    ...defined({ body: text }),
  })
  return {
    ...response,
    json: response.body === undefined ? undefined : (JSON.parse(response.body) as Record<string, unknown>),
  }
}

test('readiness: discovery without headers at any of its endpoints, then drivers', async () => {
  await using stage = await openStage()
  const v1 = await ask(stage, 'GET', '/v1/', undefined, {})
  expect(v1.status).toBe(200)
  expect(v1.json?.version).toMatchObject({ id: 'v1', status: 'CURRENT', min_version: '1.1', version: '1.115' })
  // In CR mode the endpoint has no /v1: the root must list one version, and paths go without it.
  const root = await ask(stage, 'GET', '/', undefined, {})
  expect(root.json?.versions).toHaveLength(1)
  for (const path of ['/v1/drivers', '/drivers']) {
    const { json } = await ask(stage, 'GET', path)
    const names = (json!.drivers as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['ipmi', 'redfish', 'idrac']))
  }
})

test('registering a host: not found by any of its names, created, ported, configured, verified', async () => {
  await using stage = await openStage()
  for (const name of ['ns~host', 'host'])
    expect(await ask(stage, 'GET', `/v1/nodes/${name}`)).toMatchObject({ status: 404 })
  const byMac = '/v1/ports?address=52%3A54%3A00%3Aaa%3Abb%3A01&fields=node_uuid%2Cuuid%2Caddress'
  expect((await ask(stage, 'GET', byMac)).json).toEqual({ ports: [] })

  const created = await ask(stage, 'POST', '/v1/nodes', {
    name: 'ns~host',
    driver: 'redfish',
    driver_info: {
      redfish_address: 'http://h:8000',
      redfish_username: 'u',
      redfish_password: 'p',
      redfish_system_id: '/redfish/v1/Systems/x',
    },
    boot_interface: 'redfish-virtual-media',
    inspect_interface: 'agent',
    firmware_interface: 'redfish',
    raid_interface: 'redfish',
    disable_power_off: false,
    properties: { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' },
  })
  expect(created.status).toBe(201)
  const node = created.json as unknown as { uuid: string; created_at: string; driver_info: object }
  // gophercloud cannot read a time without a zone.
  expect(node.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
  expect(node.driver_info).toMatchObject({ redfish_password: '******' })

  expect((await ask(stage, 'GET', `/v1/ports?fields=node_uuid,uuid,address&node_uuid=${node.uuid}`)).json).toEqual({
    ports: [],
  })
  const port = { node_uuid: node.uuid, address: '52:54:00:aa:bb:01', pxe_enabled: true }
  expect(await ask(stage, 'POST', '/v1/ports', port)).toMatchObject({ status: 201 })
  const [found] = (await ask(stage, 'GET', byMac)).json!.ports as { links: unknown }[]
  expect(found).toEqual({ uuid: expect.any(String), address: port.address, node_uuid: node.uuid, links: found!.links })

  const configured = await ask(stage, 'PATCH', `/v1/nodes/${node.uuid}`, [
    { op: 'add', path: '/driver_info/deploy_iso', value: 'http://images/ipa.iso' },
    { op: 'add', path: '/driver_info/kernel_append_params', value: '%default% quiet' },
    { op: 'add', path: '/automated_clean', value: true },
    { op: 'add', path: '/properties/capabilities', value: 'boot_mode:uefi' },
    { op: 'add', path: '/instance_uuid', value: 'd0000000-0000-4000-8000-000000000001' },
    { op: 'add', path: '/instance_info/root_device', value: { name: 's== /dev/sda' } },
    { op: 'add', path: '/deploy_interface', value: 'custom-agent' },
  ])
  expect(configured.json).toMatchObject({ automated_clean: true, deploy_interface: 'custom-agent' })

  expect(await ask(stage, 'GET', `/v1/nodes/${node.uuid}/firmware`)).toMatchObject({
    status: 200,
    json: { firmware: [] },
  })
  expect(await ask(stage, 'GET', `/v1/nodes/${node.uuid}/bios?detail=true`)).toMatchObject({
    status: 200,
    json: { bios: [] },
  })
  expect(await ask(stage, 'GET', `/v1/nodes/${node.uuid}/inventory`)).toMatchObject({ status: 404 })
  const capacity = await ask(stage, 'GET', '/v1/nodes?fields=uuid,name,provision_state,boot_interface')
  expect(capacity.json!.nodes).toMatchObject([{ name: 'ns~host', boot_interface: 'redfish-virtual-media' }])

  // Forced deletion, then it asks until the node is gone.
  const maintenance = { reason: 'forcing deletion in baremetal-operator' }
  expect(await ask(stage, 'PUT', `/v1/nodes/${node.uuid}/maintenance`, maintenance)).toMatchObject({ status: 202 })
  expect(await ask(stage, 'DELETE', `/v1/nodes/${node.uuid}`)).toMatchObject({ status: 204 })
  expect(await ask(stage, 'GET', `/v1/nodes/${node.uuid}`)).toMatchObject({ status: 404 })
  expect((await ask(stage, 'GET', byMac)).json).toEqual({ ports: [] })
})

test('an impossible verb is a 400: a 409 would look like a lock and be tried for ever', async () => {
  await using stage = await openStage()
  const { uuid } = await stage.client.createNode({ driver: 'fake-hardware' })
  expect(await ask(stage, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target: 'provide' })).toMatchObject({
    status: 400,
  })
})
