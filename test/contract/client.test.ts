import { expect, test } from 'vitest'
import { Scope, systemClock } from '../../base/runtime/index.js'
import { HttpTransport, IronicClient, IronicRefused, serveHttp } from '../../base/wire/index.js'
import { openStage } from './stage.js'

const quick = { every: 5, timeout: 5000 }

test('a client over HTTP: enrol, patch, list by pages, power, delete', async () => {
  await using stage = await openStage()
  await using scope = new Scope()
  const clock = systemClock()
  const server = scope.use(await serveHttp({ dispatch: stage.api, port: 0, clock }))
  const transport = scope.use(new HttpTransport({ clock }))
  // However people write an endpoint.
  const client = new IronicClient({ transport, endpoint: `${server.url}/v1/`, clock })

  const node = await client.createNode({ driver: 'fake-hardware', name: 'one', driver_info: { ipmi_password: 'x' } })
  expect(node).toMatchObject({ provision_state: 'enroll', driver_info: { ipmi_password: '******' } })
  expect(node.links[0]?.href).toBe(`${server.url}/v1/nodes/${node.uuid}`)
  expect(await client.patchNode('one', [{ op: 'add', path: '/extra/a', value: 1 }])).toMatchObject({ extra: { a: 1 } })

  await client.provision('one', 'manage')
  expect(await client.waitFor('one', ['manageable'], quick)).toMatchObject({ target_provision_state: null })
  await client.power('one', 'power on')
  await expect.poll(() => client.states('one')).toMatchObject({ power_state: 'power on', target_power_state: null })
  expect(await client.validate('one')).toMatchObject({ power: { result: true } })
  await client.setMaintenance('one', true, 'because')
  expect(await client.node('one')).toMatchObject({ maintenance: true, maintenance_reason: 'because' })
  await client.setMaintenance('one', false)

  await client.createPort({ node_uuid: node.uuid, address: '52:54:00:AA:BB:01' })
  const [port] = await client.ports(node.uuid)
  expect(port).toMatchObject({ address: '52:54:00:aa:bb:01', pxe_enabled: true })
  await client.deletePort(port!.uuid)

  await client.createNode({ driver: 'fake-hardware', name: 'two' })
  await client.createNode({ driver: 'fake-hardware', name: 'three' })
  const names = (await client.nodes({ limit: '1', fields: 'uuid,name' })).map(({ name }) => name)
  expect(names).toEqual(['one', 'two', 'three'])

  await client.deleteNode('one')
  const gone = await client.node('one').catch((error: unknown) => error)
  expect(gone).toBeInstanceOf(IronicRefused)
  expect(gone).toMatchObject({ status: 404, message: 'Node one could not be found.' })
})

test('waiting ends where the node ended, with its error', async () => {
  await using stage = await openStage()
  const { client } = stage
  const { uuid } = await client.createNode({
    driver: 'redfish',
    driver_info: { redfish_address: 'http://bmc', redfish_username: 'u', redfish_password: 'p' },
  })
  const seen: string[] = []
  await client.provision(uuid, 'manage')
  const waited = client.waitFor(uuid, ['manageable'], { ...quick, onState: (node) => seen.push(node.provision_state) })
  await expect(waited).rejects.toMatchObject({ code: 'unexpected-state', message: expect.stringContaining('"enroll"') })
  expect(seen.at(-1)).toBe('enroll')
})

test('waiting gives up in time', async () => {
  await using stage = await openStage()
  const { uuid } = await stage.client.createNode({ driver: 'fake-hardware' })
  await expect(stage.client.waitFor(uuid, ['active'], { every: 5, timeout: 20 })).rejects.toMatchObject({
    code: 'timeout',
    message: `Node ${uuid} was still in "enroll" after 0.02 s of waiting for "active".`,
  })
})
