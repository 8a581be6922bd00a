import { describe, expect, test } from 'vitest'
import { manageableNode, ScriptedLab } from '../../../../test/kit/conductor/scripted-lab.js'
import type { ScriptedMachine } from '../../../../test/kit/conductor/scripted-machine.js'
import { minutes } from '../../../../base/runtime/index.js'
import type { JsonObject } from '../../../../base/wire/index.js'
import type { SystemReport } from '../../../drivers/bmc-hardware.js'
import { UPSTREAM_CONF } from '../../core/conductor-conf.js'
import { UPSTREAM_INSPECTION } from '../../inspection/inspection-conf.js'

const MAC = '52:54:00:00:00:01'

async function manageable(fields: JsonObject = {}, conf = {}) {
  const made = await manageableNode(fields, conf)
  return { ...made, ports: () => made.lab.store.ports({ node_uuid: made.uuid }) }
}

/** A node in inspect wait without an agent: the test posts the inventory. */
async function waiting() {
  const made = await manageable()
  made.machine.script.silent = true
  await made.lab.provision(made.uuid, 'inspect', 'inspect wait')
  return made
}

const data = (interfaces: JsonObject[], more: JsonObject = {}, inventory: JsonObject = {}): JsonObject => ({
  inventory: { interfaces, cpu: { architecture: 'aarch64' }, ...inventory },
  error: null,
  ...more,
})
const eth = (mac: string, more: JsonObject = {}): JsonObject => ({
  name: `nic-${mac.slice(-2)}`,
  mac_address: mac,
  ...more,
})

test('the agent boots, posts what it finds, and the node is off and manageable again', async () => {
  const { lab, uuid, machine } = await manageable()
  const node = await lab.provision(uuid, 'inspect', 'manageable')
  expect(node).toMatchObject({
    properties: { cpu_arch: 'x86_64' },
    power_state: 'power off',
    inspection_started_at: null,
    last_error: null,
  })
  expect(node.inspection_finished_at).toMatch(/^2026-01-01T00:00:00\.\d{6}$/)
  expect(node.driver_internal_info).not.toHaveProperty('inspector_manage_boot')
  expect(machine.source).toEqual({
    kind: 'ramdisk',
    parameters: {
      'ipa-api-url': 'http://ironic.test:6385',
      'ipa-inspection-callback-url': 'http://ironic.test:6385/v1/continue_inspection',
    },
  })
  expect(machine.sent).toEqual([])
  const stored = await lab.store.inventory(uuid)
  expect(stored?.inventory).toMatchObject({ cpu: { count: 4 } })
  expect(stored?.plugin_data).toMatchObject({ macs: [MAC], valid_interfaces: { eth0: { pxe_enabled: true } } })
})

test('the ramdisk gets the kernel parameters of [inspector], which cannot change where the data is posted', async () => {
  const extraKernelParams = { 'ipa-debug': '', 'ipa-inspection-callback-url': 'http://other' }
  const inspection = { ...UPSTREAM_INSPECTION, forceDhcp: true, extraKernelParams }
  const { lab, uuid, machine } = await manageable({}, { inspection })
  await lab.provision(uuid, 'inspect', 'manageable')
  expect(machine.source).toMatchObject({
    parameters: {
      'ipa-collect-lldp': '1',
      'ipa-debug': '',
      'ipa-inspection-callback-url': 'http://ironic.test:6385/v1/continue_inspection',
    },
  })
})

test('while the posted data is worked on, the agent gets 409: the node is locked', async () => {
  const { lab, uuid } = await waiting()
  await lab.conductor.continueInspection(data([eth(MAC)]))
  await expect(lab.conductor.lookup(uuid, { issueToken: true })).rejects.toMatchObject({ status: 409 })
  await lab.until(uuid, 'manageable')
})

test('logs are not kept', async () => {
  const { lab, uuid } = await waiting()
  await lab.conductor.continueInspection(data([eth(MAC)], { logs: 'H4sI', root_disk: { name: '/dev/sda' } }))
  await lab.until(uuid, 'manageable')
  expect((await lab.store.inventory(uuid))?.plugin_data).toMatchObject({ root_disk: { name: '/dev/sda' } })
  expect((await lab.store.inventory(uuid))?.plugin_data).not.toHaveProperty('logs')
})

describe('ports', () => {
  test('without a known boot interface all are added, and none is for PXE', async () => {
    const { lab, uuid, ports } = await waiting()
    await lab.conductor.continueInspection(data([eth(MAC), eth('52:54:00:AA:CC:01'), eth('52:54:00:aa:cc:02')]))
    await lab.until(uuid, 'manageable')
    expect((await ports()).map((port) => [port.address, port.pxe_enabled])).toEqual([
      [MAC, false],
      ['52:54:00:aa:cc:01', false],
      ['52:54:00:aa:cc:02', false],
    ])
  })

  test('with one only that is added', async () => {
    const { lab, uuid, ports } = await waiting()
    const pxe = { boot: { pxe_interface: '01-52-54-00-aa-cc-01' } }
    await lab.conductor.continueInspection(
      data([eth(MAC), eth('52:54:00:aa:cc:01'), eth('52:54:00:aa:cc:02')], {}, pxe),
    )
    await lab.until(uuid, 'manageable')
    expect((await ports()).map((port) => [port.address, port.pxe_enabled])).toEqual([
      [MAC, false],
      ['52:54:00:aa:cc:01', true],
    ])
  })

  test("another node's port stays where it is", async () => {
    const { lab, uuid, ports } = await waiting()
    const other = await lab.conductor.createNode({ driver: 'fake-hardware' })
    await lab.conductor.createPort({ node_uuid: other.uuid, address: '52:54:00:aa:cc:09' })
    await lab.conductor.continueInspection(data([eth(MAC), eth('52:54:00:aa:cc:08')]), uuid)
    await lab.until(uuid, 'manageable')
    expect((await ports()).map((port) => port.address)).toEqual([MAC, '52:54:00:aa:cc:08'])
  })
})

describe('which node is meant', () => {
  test.each<[string, JsonObject, string | undefined, number]>([
    ['an unknown MAC', data([eth('52:54:00:ff:ff:ff')]), undefined, 404],
    ['an unknown uuid', data([eth(MAC)]), '00000000-0000-4000-8000-00000000dead', 404],
    ['no MAC that is one', data([{ name: 'x', mac_address: 'bad' }]), undefined, 400],
  ])('data are refused for %s', async (_, posted, uuid, status) => {
    const { lab } = await waiting()
    await expect(lab.conductor.continueInspection(posted, uuid)).rejects.toMatchObject({ status })
  })

  test('not one that does not wait for it, nor the same data twice', async () => {
    const { lab, uuid } = await manageable()
    await expect(lab.conductor.continueInspection(data([eth(MAC)]))).rejects.toMatchObject({ status: 404 })
    const second = await waiting()
    await second.lab.conductor.continueInspection(data([eth(MAC)]), second.uuid)
    await expect(second.lab.conductor.continueInspection(data([eth(MAC)]), second.uuid)).rejects.toMatchObject({
      status: 404,
    })
    expect(uuid).toBeDefined()
  })

  test("the one with the BMC's address, when no MAC is known", async () => {
    const lab = await ScriptedLab.open()
    const { uuid } = await lab.conductor.createNode({
      driver: 'fake-hardware',
      driver_info: { redfish_address: 'https://[2001:db8::7]:8000' },
    })
    await lab.provision(uuid, 'manage', 'manageable')
    await lab.provision(uuid, 'inspect', 'inspect wait')
    const found = data([eth('52:54:00:aa:cc:01')], {}, { bmc_v6address: '2001:db8::7', bmc_address: '0.0.0.0' })
    expect((await lab.conductor.continueInspection(found)).uuid).toBe(uuid)
    const node = await lab.until(uuid, 'manageable')
    expect(node.driver_internal_info).not.toHaveProperty('lookup_bmc_addresses')
  })

  test('the newer form of the answer has the token, once', async () => {
    const { lab, uuid } = await waiting()
    const { config } = await lab.conductor.continueInspectionAsLookup(data([eth(MAC)]))
    expect(String(config.agent_token)).toHaveLength(43)
    await lab.until(uuid, 'manageable')
  })
})

describe('failures', () => {
  test('an error of the ramdisk', async () => {
    const { lab, uuid } = await waiting()
    await lab.conductor.continueInspection(data([eth(MAC)], { error: 'the ramdisk failed' }))
    const node = await lab.until(uuid, 'inspect failed')
    const hooks = `failed to run inspection hooks: Failed to inspect hardware. Reason: The following failures happened while running preprocess hooks for node ${uuid}:\nError in preprocess hook ramdisk-error: Failed to inspect hardware. Reason: Ramdisk reported error: the ramdisk failed`
    expect(node).toMatchObject({
      last_error: `Async execution of continue_inspection failed with error: Failed to inspect hardware. Reason: ${hooks}`,
      power_state: 'power off',
      target_provision_state: 'manageable',
      inspection_started_at: null,
    })
    expect((await lab.store.history(uuid)).at(-1)).toMatchObject({
      event: `Failed to finish inspection: Failed to inspect hardware. Reason: ${hooks}`,
      event_type: 'introspection',
      state: 'inspecting',
    })
    expect(await lab.provision(uuid, 'manage', 'manageable')).toMatchObject({ target_provision_state: null })
  })

  test('no agent posts inspection data', async () => {
    const { lab, uuid } = await waiting()
    const begun = lab.clock.elapsed()
    const node = await lab.until(uuid, 'inspect failed')
    expect(node.last_error).toContain('Timeout reached while inspecting the node. Please check')
    expect(lab.clock.elapsed() - begun).toBe(minutes(30) + 1)
  })

  test('not while in maintenance; afterwards at the next look', async () => {
    const { lab, uuid } = await waiting()
    await lab.conductor.setMaintenance(uuid, true)
    await lab.clock.advance(minutes(45))
    expect((await lab.node(uuid)).provision_state).toBe('inspect wait')
    await lab.conductor.setMaintenance(uuid, false)
    await lab.clock.advance(minutes(1))
    expect((await lab.node(uuid)).provision_state).toBe('inspect failed')
  })

  test('abort', async () => {
    const { lab, uuid, machine } = await waiting()
    const node = await lab.provision(uuid, 'abort', 'inspect failed')
    expect(node).toMatchObject({ last_error: 'Inspection was aborted by request.', power_state: 'power off' })
    expect(machine.state).toBe('power off')
  })

  test('abort, where the interface was changed meanwhile to one that has nothing to abort', async () => {
    const { lab, uuid } = await waiting()
    await lab.conductor.updateNode(uuid, () => ({ inspect_interface: 'redfish' }))
    await expect(lab.conductor.provision(uuid, { target: 'abort' })).rejects.toMatchObject({
      status: 400,
      message: 'Driver redfish does not support abort (disabled or not implemented).',
    })
    expect(await lab.node(uuid)).toMatchObject({ provision_state: 'inspect wait', reservation: null })
  })

  test('an interface that cannot inspect', async () => {
    const { lab, uuid } = await manageable({ inspect_interface: 'no-inspect' })
    await expect(lab.conductor.provision(uuid, { target: 'inspect' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(
        'Driver redfish does not support inspect (disabled or not implemented).',
      ) as string,
    })
  })
})

const SYSTEM: SystemReport = {
  manufacturer: 'ACME',
  model: 'Box',
  serial: 'S1',
  memoryMib: 8192,
  bootMode: 'uefi',
  cpu: { count: 8, architecture: 'x86_64', model: null },
  nics: [
    { name: 'eno1', mac: MAC, speedMbps: 10_000 },
    { name: 'eno2', mac: '52:54:00:aa:cc:02', speedMbps: null },
  ],
  disks: [{ name: 'sda', size: 20 * 2 ** 30, vendor: 'V', model: 'M', serial: 'D', rotational: false }],
}
const tells = (machine: ScriptedMachine, report: SystemReport = SYSTEM) =>
  Object.assign(machine, {
    hardware: { system: () => Promise.resolve(report), report: () => Promise.reject(new Error('no')) },
  })

describe('out of band', () => {
  test('the report of the BMC, without a boot', async () => {
    const { lab, uuid, machine, ports } = await manageable({ inspect_interface: 'redfish' })
    tells(machine)
    const node = await lab.provision(uuid, 'inspect', 'manageable')
    expect(lab.states(uuid).slice(-2)).toEqual(['inspecting', 'manageable'])
    expect(machine.boots).toEqual([])
    expect(node.properties).toEqual({
      memory_mb: 8192,
      local_gb: 19,
      cpu_arch: 'x86_64',
      capabilities: 'boot_mode:uefi',
    })
    expect((await ports()).map(({ address }) => address)).toEqual([MAC, '52:54:00:aa:cc:02'])
    expect((await lab.store.inventory(uuid))?.inventory).toMatchObject({
      system_vendor: { product_name: 'Box', serial_number: 'S1', manufacturer: 'ACME' },
      interfaces: [{ name: 'eno1', mac_address: MAC, speed_mbps: 10_000 }, { name: 'eno2' }],
    })
  })

  test('a BMC that does not answer', async () => {
    const { lab, uuid, machine } = await manageable({ inspect_interface: 'redfish' })
    Object.assign(machine, { hardware: { system: () => Promise.reject(new Error('gone')) } })
    expect(await lab.provision(uuid, 'inspect', 'inspect failed')).toMatchObject({ last_error: 'gone' })
  })

  test('its NICs have ports before the ramdisk boots', async () => {
    const { lab, uuid, machine, ports } = await manageable()
    tells(machine)
    machine.script.silent = true
    await lab.provision(uuid, 'inspect', 'inspect wait')
    expect(await ports()).toHaveLength(2)
  })
})

describe('rules', () => {
  const withRule = async (lab: ScriptedLab, actions: JsonObject[]) => {
    const rule = { uuid: '00000000-0000-4000-8000-000000000001', description: null, priority: 0, phase: 'main' }
    await lab.store.createResource('inspection_rule', {
      ...rule,
      sensitive: false,
      scope: null,
      conditions: [],
      actions: actions as never,
      created_at: '2026-01-01T00:00:00.000000',
      updated_at: null,
    })
  }

  test('change the node', async () => {
    const { lab, uuid } = await manageable()
    await withRule(lab, [{ op: 'set-attribute', args: { path: 'extra/cores', value: '{inventory[cpu][count]}' } }])
    expect(await lab.provision(uuid, 'inspect', 'manageable')).toMatchObject({ extra: { cores: '4' } })
  })

  test('or fail its inspection, once its ports and properties are kept', async () => {
    const { lab, uuid } = await manageable()
    await withRule(lab, [{ op: 'fail', args: { msg: 'not this one' } }])
    expect(await lab.provision(uuid, 'inspect', 'inspect failed')).toMatchObject({
      last_error:
        'Async execution of continue_inspection failed with error: Failed to inspect hardware. Reason: not this one',
      properties: { cpu_arch: 'x86_64' },
      power_state: 'power off',
    })
    expect((await lab.store.history(uuid)).at(-1)?.event).toBe(
      'Failed to finish inspection: Failed to inspect hardware. Reason: not this one',
    )
  })
})

test('no-inspect refuses, as does a boot that Ironic would have to manage and cannot', async () => {
  const { lab, uuid } = await manageable({ inspect_interface: 'no-inspect' })
  await expect(lab.conductor.provision(uuid, { target: 'inspect' })).rejects.toMatchObject({ status: 400 })
  const managed = { inspection: { ...UPSTREAM_CONF.inspection, requireManagedBoot: true } }
  const unmanaged = { driver: 'fake-hardware', boot_interface: 'fake', inspect_interface: 'agent' }
  const fake = await manageable(unmanaged, managed)
  await expect(fake.lab.conductor.provision(fake.uuid, { target: 'inspect' })).rejects.toMatchObject({
    message: expect.stringContaining('Driver fake-hardware does not support inspection') as string,
  })
  // The lab boots the machine.
  const accepted = await manageable(unmanaged)
  await expect(accepted.lab.conductor.provision(accepted.uuid, { target: 'inspect' })).resolves.toBeUndefined()
})

test('ports that are missing any more go, where that is wanted', async () => {
  const { lab, uuid, ports } = await manageable(
    {},
    { inspection: { ...UPSTREAM_CONF.inspection, keepPorts: 'present' } },
  )
  await lab.conductor.createPort({ node_uuid: uuid, address: '52:54:00:00:00:99' })
  await lab.provision(uuid, 'inspect', 'manageable')
  expect((await ports()).map(({ address }) => address)).toEqual([MAC])
})
