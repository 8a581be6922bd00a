import { describe, expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import type { NewNode } from './conductor.js'

describe('creating a node', () => {
  test('takes default interfaces from the driver', async () => {
    const { conductor } = await ScriptedLab.open()
    expect(await conductor.createNode({ driver: 'redfish' })).toMatchObject({
      id: 1,
      provision_state: 'enroll',
      bios_interface: 'redfish',
      boot_interface: 'ipxe',
      deploy_interface: 'custom-agent',
      inspect_interface: 'agent',
      rescue_interface: 'no-rescue',
      network_interface: 'noop',
      power_state: null,
      traits: [],
      created_at: '2026-01-01T00:00:00.000000',
      updated_at: null,
    })
  })

  test.each<[NewNode, number, string]>([
    [
      { driver: 'nosuch' },
      400,
      'No valid host was found. Reason: No conductor service registered which supports driver nosuch for conductor group "". Ensure the driver is valid and enabled.',
    ],
    [{ driver: 'redfish', conductor_group: 'g' }, 400, 'supports driver redfish for conductor group "g"'],
    [
      { driver: 'redfish', deploy_interface: 'nosuch' },
      400,
      "Could not find the following interface in the 'ironic.hardware.interfaces.deploy' entrypoint: nosuch. Valid interfaces are ['autodetect', 'bootc', 'custom-agent', 'direct', 'fake', 'noop', 'ramdisk'].",
    ],
    [{ driver: 'redfish', deploy_interface: 'fake' }, 400, 'is not supported by hardware type RedfishHardware.'],
    [{ driver: 'redfish', name: 'taken' }, 409, 'A node with name taken already exists.'],
    [{ driver: 'redfish', uuid: 'u' }, 409, 'A node with UUID u already exists.'],
  ])('with the fields %o is refused with %i', async (fields, status, message) => {
    const { conductor } = await ScriptedLab.open()
    await conductor.createNode({ driver: 'fake-hardware', name: 'taken', uuid: 'u' })
    await expect(conductor.createNode(fields)).rejects.toMatchObject({
      status,
      message: expect.stringContaining(message) as string,
    })
  })
})

test('a change of driver or interface that do not fit together is refused', async () => {
  const { conductor } = await ScriptedLab.open()
  const { uuid } = await conductor.createNode({ driver: 'fake-hardware' })
  await expect(conductor.updateNode(uuid, () => ({ driver: 'redfish' }))).rejects.toMatchObject({ status: 400 })
  expect(await conductor.updateNode(uuid, () => ({ deploy_interface: 'fake' }))).toMatchObject({
    deploy_interface: 'fake',
  })
  const updated = await conductor.updateNode(uuid, (node) => ({ extra: { ...node.extra, a: 1 } }))
  expect(updated).toMatchObject({ extra: { a: 1 }, updated_at: '2026-01-01T00:00:00.000000' })
})

test('concurrent changes of a node are all applied', async () => {
  const { conductor, store } = await ScriptedLab.open()
  const { uuid } = await conductor.createNode({ driver: 'fake-hardware' })
  await Promise.all(
    ['a', 'b', 'c'].map((key) => conductor.updateNode(uuid, (node) => ({ extra: { ...node.extra, [key]: 1 } }))),
  )
  expect((await store.node(uuid))?.node.extra).toEqual({ a: 1, b: 1, c: 1 })
})

describe('deleting a node', () => {
  test('removes a node in a stable state with its ports', async () => {
    const { conductor, store } = await ScriptedLab.open()
    const { uuid } = await conductor.createNode({ driver: 'fake-hardware' })
    await conductor.createPort({ node_uuid: uuid, address: '52:54:00:AA:00:01' })
    expect((await store.ports({}))[0]?.address).toBe('52:54:00:aa:00:01')
    await conductor.destroyNode(uuid)
    expect(await store.ports({})).toEqual([])
    await expect(conductor.provision(uuid, { target: 'manage' })).rejects.toMatchObject({ status: 404 })
  })

  test('in other states needs maintenance', async () => {
    const lab = await ScriptedLab.open()
    const { uuid, machine } = await lab.enroll()
    machine.script.silent = true
    await lab.provision(uuid, 'manage', 'manageable')
    await lab.provision(uuid, 'provide', 'clean wait')
    await expect(lab.conductor.destroyNode(uuid)).rejects.toMatchObject({
      status: 409,
      message: `Can not delete node "${uuid}" while it is in provision state "clean wait". Valid provision states to perform deletion are: "('manageable', 'enroll', 'adopt failed', 'available')", or set the node into maintenance mode`,
    })
    await lab.conductor.setMaintenance(uuid, true, 'stuck')
    await lab.conductor.destroyNode(uuid)
    // Its time limit passes without a warning.
    await lab.clock.advance(3_600_000)
    expect(lab.warnings).toEqual([])
  })
})

test('a MAC address of another port is refused', async () => {
  const { conductor } = await ScriptedLab.open()
  const { uuid } = await conductor.createNode({ driver: 'fake-hardware' })
  const port = await conductor.createPort({ node_uuid: uuid, address: '52:54:00:00:00:01' })
  await expect(conductor.createPort({ node_uuid: uuid, address: '52:54:00:00:00:01' })).rejects.toMatchObject({
    status: 409,
    message: 'A port with MAC address 52:54:00:00:00:01 already exists.',
  })
  expect(await conductor.updatePort(port.uuid, () => ({ extra: { a: 1 } }))).toMatchObject({ extra: { a: 1 } })
  await conductor.destroyPort(port.uuid)
  await expect(conductor.destroyPort(port.uuid)).rejects.toMatchObject({ status: 404 })
})

test('validation names the missing fields of each interface', async () => {
  const { conductor } = await ScriptedLab.open()
  const { uuid } = await conductor.createNode({ driver: 'redfish' })
  const noPort = { result: false, reason: `Node ${uuid} does not have any port associated with it` }
  expect(await conductor.validate(uuid)).toMatchObject({
    boot: noPort,
    deploy: noPort,
    power: { result: false },
    console: { result: false, reason: 'Driver redfish does not support console (disabled or not implemented).' },
    rescue: { result: false },
    raid: { result: true },
  })
})

test('the list of drivers has the default interface first', async () => {
  const { conductor } = await ScriptedLab.open()
  const drivers = conductor.drivers()
  expect(drivers.map(({ name }) => name)).toEqual(['fake-hardware', 'idrac', 'ipmi', 'manual-management', 'redfish'])
  expect(drivers[0]).toMatchObject({
    hosts: ['lab'],
    type: 'dynamic',
    interfaces: { deploy: ['custom-agent', 'direct', 'ramdisk', 'autodetect', 'bootc', 'fake', 'noop'] },
  })
  expect(drivers[4]?.properties).toHaveProperty('redfish_address')
})
