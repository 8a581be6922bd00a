import { describe, expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab } from '../../lab/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import { configdrive, ignition } from '../kit/deployed.js'

const MACS = ['52:54:00:aa:bb:01', '52:54:00:aa:bb:02']

interface Registration {
  driver: string
  driver_info: Record<string, unknown>
  macs?: string[]
  [field: string]: unknown
}

/** Registers a node as a client of Ironic's does, with nothing configured in the lab. */
async function register(lab: StagedLab, { macs = MACS, ...fields }: Registration) {
  const node = await lab.client.createNode({ deploy_interface: 'custom-agent', inspect_interface: 'agent', ...fields })
  for (const [index, address] of macs.entries())
    await lab.client.createPort({ node_uuid: node.uuid, address, pxe_enabled: index === 0 })
  return node.uuid
}

const atRest = ({ reservation, provision_state: state }: Readonly<NodeRecord>) =>
  reservation === null && /^(enroll|manageable|available|active|.* failed)$/.test(state)

async function through(lab: StagedLab, uuid: string, verb: string, more = {}) {
  await lab.client.provision(uuid, verb, more)
  return settled(lab, uuid)
}

async function settled(lab: StagedLab, uuid: string) {
  await lab.wait(
    (async () => {
      while (!atRest((await lab.store.node(uuid))!.node)) await lab.clock.sleep(100)
    })(),
  )
  return lab.client.node(uuid)
}

const redfish = (system = 'x', address = 'http://10.1.0.1:8000') => ({
  driver: 'redfish',
  driver_info: {
    redfish_address: address,
    redfish_system_id: `/redfish/v1/Systems/${system}`,
    redfish_username: 'admin',
    redfish_password: 'password',
  },
})

describe('a node whose BMC no machine has gets a machine', () => {
  test.each<[string, Registration, { address: string; systemId: string }]>([
    ['redfish', redfish(), { address: '10.1.0.1:8000', systemId: 'x' }],
    ['redfish over TLS', redfish('x', 'https://bmc.invalid'), { address: 'bmc.invalid', systemId: 'x' }],
    ['redfish without scheme', redfish('1', 'bmc.invalid'), { address: 'bmc.invalid', systemId: '1' }],
    ['redfish over IPv6', redfish('1', 'https://[fd00::1]'), { address: '[fd00::1]', systemId: '1' }],
    [
      'ipmi',
      { driver: 'ipmi', driver_info: { ipmi_address: '10.1.0.2', ipmi_username: 'a', ipmi_password: 'b' } },
      { address: '10.1.0.2', systemId: '' },
    ],
    [
      'ipmi on a port of its own',
      { driver: 'ipmi', driver_info: { ipmi_address: '10.1.0.2', ipmi_port: 6230, ipmi_username: 'a' } },
      { address: '10.1.0.2:6230', systemId: '' },
    ],
    [
      'idrac',
      { ...redfish('System.Embedded.1', 'https://10.1.0.3'), driver: 'idrac' },
      { address: '10.1.0.3', systemId: 'System.Embedded.1' },
    ],
  ])('%s', async (_, registration, bmc) => {
    await using lab = await createStagedLab()
    const uuid = await register(lab, registration)
    expect(await through(lab, uuid, 'manage')).toMatchObject({ provision_state: 'manageable', last_error: null })
    expect(await through(lab, uuid, 'inspect')).toMatchObject({ provision_state: 'manageable', last_error: null })

    const [machine, ...others] = lab.machines.list()
    expect(others).toEqual([])
    expect(machine!.spec.bmc).toMatchObject(bmc)
    expect(machine!.spec.nics.map(({ mac }) => mac)).toEqual(MACS)
    const { inventory } = await lab.client.inventory(uuid)
    expect(inventory).toMatchObject({ interfaces: MACS.map((mac_address) => expect.objectContaining({ mac_address })) })

    await through(lab, uuid, 'provide')
    const active = await through(lab, uuid, 'active', { deploy_steps: [installCoreos()], configdrive })
    expect(active).toMatchObject({ provision_state: 'active', last_error: null })
    expect(machine!.firstBoot()).toMatchObject({ hostname: 'worker-0' })
  })
})

test('nothing is made before the machine is switched on', async () => {
  await using lab = await createStagedLab()
  const uuid = await register(lab, redfish())
  expect(await through(lab, uuid, 'manage')).toMatchObject({ power_state: 'power off' })
  expect(lab.machines.list()).toEqual([])
})

test('a node without ports gets ports from its machine when it is inspected', async () => {
  await using lab = await createStagedLab()
  const uuid = await register(lab, { ...redfish(), macs: [] })
  await through(lab, uuid, 'manage')
  expect(await through(lab, uuid, 'inspect')).toMatchObject({ provision_state: 'manageable', last_error: null })
  const [machine] = lab.machines.list()
  // The BMC tells of all of them before the ramdisk boots.
  const booted = machine!.spec.nics.map(({ mac }) => mac)
  expect((await lab.client.ports(uuid)).map(({ address }) => address)).toEqual(booted)
})

test('a node that is deleted and registered again finds the same machine, with what is on its disk', async () => {
  await using lab = await createStagedLab()
  const uuid = await register(lab, redfish())
  await through(lab, uuid, 'manage')
  await through(lab, uuid, 'provide')
  await through(lab, uuid, 'active', { deploy_steps: [installCoreos({ ignition })] })
  const [machine] = lab.machines.list()
  const installed = machine!.firstBoot()
  await lab.client.setMaintenance(uuid, true)
  await lab.client.deleteNode(uuid)

  const again = await register(lab, redfish())
  expect(await through(lab, again, 'manage')).toMatchObject({ provision_state: 'manageable', power_state: 'power on' })
  expect(lab.machines.list()).toEqual([machine])
  expect(await through(lab, again, 'adopt')).toMatchObject({ last_error: null })
  expect(machine!.firstBoot()).toEqual(installed)
})

test('two systems behind one BMC are two machines', async () => {
  await using lab = await createStagedLab()
  const one = await register(lab, { ...redfish('1'), macs: [MACS[0]!] })
  const other = await register(lab, { ...redfish('2'), macs: [MACS[1]!] })
  for (const uuid of [one, other]) {
    await through(lab, uuid, 'manage')
    expect(await through(lab, uuid, 'inspect')).toMatchObject({ last_error: null })
  }
  expect(lab.machines.list().map(({ spec }) => spec.nics.map(({ mac }) => mac))).toEqual([[MACS[0]], [MACS[1]]])
})

test('a node without system id takes the only system there is', async () => {
  await using lab = await createStagedLab()
  const configured = lab.spec(1)
  await lab.machines.create(configured)
  const { redfish_system_id: _, ...driver_info } = redfish('', `http://${configured.bmc!.address}`).driver_info
  const uuid = await register(lab, { driver: 'redfish', driver_info, macs: [configured.nics[0]!.mac] })
  await through(lab, uuid, 'manage')
  expect(await through(lab, uuid, 'inspect')).toMatchObject({ last_error: null })
  expect(lab.machines.list().map(({ spec }) => spec.id)).toEqual([configured.id])
})

test('a machine of the lab is found by its BMC, whoever registers it', async () => {
  await using lab = await createStagedLab()
  const configured = lab.spec(1)
  await lab.machines.create(configured)
  const { address, systemId } = configured.bmc!
  const uuid = await register(lab, { ...redfish(systemId, `https://${address}`), macs: [configured.nics[0]!.mac] })
  await through(lab, uuid, 'manage')
  expect(await through(lab, uuid, 'inspect')).toMatchObject({ last_error: null })
  expect(lab.machines.list().map(({ spec }) => spec.serial)).toEqual([configured.serial])
})

test('fake-hardware never gets a machine', async () => {
  await using lab = await createStagedLab()
  const uuid = await register(lab, {
    driver: 'fake-hardware',
    driver_info: {},
    deploy_interface: 'fake',
    inspect_interface: 'no-inspect',
    power_interface: 'fake',
    boot_interface: 'fake',
  })
  await through(lab, uuid, 'manage')
  await through(lab, uuid, 'provide')
  expect(await through(lab, uuid, 'active')).toMatchObject({ provision_state: 'active', last_error: null })
  await lab.client.power(uuid, 'power on')
  expect(await settled(lab, uuid)).toMatchObject({ power_state: 'power on' })
  expect(lab.machines.list()).toEqual([])
})

test.each([
  [{ driver: 'redfish', driver_info: {} }, /redfish_address/],
  [{ driver: 'ipmi', driver_info: {} }, /ipmi_address/],
])('a node whose BMC is not named stays in enroll: %j', async (registration, sentence) => {
  await using lab = await createStagedLab()
  const uuid = await register(lab, registration)
  expect(await through(lab, uuid, 'manage')).toMatchObject({
    provision_state: 'enroll',
    last_error: expect.stringMatching(sentence),
  })
})
