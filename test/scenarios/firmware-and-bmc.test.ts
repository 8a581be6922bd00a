import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { createStagedLab, openStateFolder, composeStage, type StagedLab, type StagedNode } from '../../lab/index.js'
import { ironicSentence, type JsonObject, type RequestedStep } from '../../base/wire/index.js'

/** A call as any client makes it. */
const caller =
  ({ transport, url }: Pick<StagedLab, 'transport' | 'url'>, uuid: string) =>
  async (
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown; sentence?: string }> => {
    const response = await transport.send({
      method,
      url: `${url}/v1/nodes/${uuid}/${path}`,
      headers: { 'x-openstack-ironic-api-version': '1.115', 'content-type': 'application/json' },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
    const parsed: unknown = response.body === undefined ? undefined : JSON.parse(response.body)
    return {
      status: response.status,
      body: parsed,
      ...defined({ sentence: response.status >= 400 ? ironicSentence(response) : undefined }),
    }
  }

async function manageable(): Promise<{ lab: StagedLab; node: StagedNode; call: ReturnType<typeof caller> }> {
  const lab = await createStagedLab()
  const fields = {
    bios_interface: 'redfish',
    firmware_interface: 'redfish',
    raid_interface: 'redfish',
    vendor_interface: 'redfish',
  }
  const node = await lab.enroll({ fields })
  await node.provision('manage')
  await node.settled()
  return { lab, node, call: caller(lab, node.uuid) }
}

const bios = async (call: ReturnType<typeof caller>): Promise<Record<string, unknown>> => {
  const { body } = await call('GET', 'bios?detail=true')
  const { bios: settings } = body as { bios: { name: string; value: string }[] }
  return Object.fromEntries(settings.map(({ name, value }) => [name, value]))
}
const versions = async (call: ReturnType<typeof caller>) => {
  const { body } = await call('GET', 'firmware')
  return (body as { firmware: JsonObject[] }).firmware
}
const apply = (...settings: JsonObject[]): RequestedStep[] => [
  { interface: 'bios', step: 'apply_configuration', args: { settings } },
]

describe('what a BMC tells', () => {
  test('is known once the node is manageable: settings with their registry, versions, modes, health', async () => {
    const { lab, node, call } = await manageable()
    await using _ = lab
    const { body } = await call('GET', 'bios/ProcVirtualization')
    expect(body).toMatchObject({
      ProcVirtualization: {
        name: 'ProcVirtualization',
        value: 'Enabled',
        attribute_type: 'Enumeration',
        allowable_values: ['Enabled', 'Disabled'],
        read_only: false,
        reset_required: true,
      },
    })
    expect((await versions(call)).map(({ component }) => component)).toEqual([
      'bios',
      'bmc',
      expect.stringMatching(/^nic:/),
      expect.stringMatching(/^nic:/),
    ])
    expect(await node.get()).toMatchObject({ boot_mode: 'uefi', secure_boot: false, health: 'OK' })
    expect((await node.get()).properties).toMatchObject({ vendor: 'ironstage' })
  })
})

describe('BIOS settings', () => {
  test('are applied by a boot, without a ramdisk, and read back', async () => {
    const { lab, node, call } = await manageable()
    await using _ = lab
    await node.provision('clean', {
      clean_steps: apply({ name: 'ProcVirtualization', value: 'Disabled' }, { name: 'PowerOnDelay', value: '30' }),
    })
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
    expect(await bios(call)).toMatchObject({ ProcVirtualization: 'Disabled', PowerOnDelay: '30' })
    expect((await node.machine())!.firmware.report().bios.find(({ name }) => name === 'PowerOnDelay')!.value).toBe(30)

    await node.provision('clean', { clean_steps: [{ interface: 'bios', step: 'factory_reset' }] })
    await node.settled()
    expect(await bios(call)).toMatchObject({ ProcVirtualization: 'Enabled', PowerOnDelay: '0' })
  })

  test('that are so already are no reason to boot', async () => {
    const { lab, node } = await manageable()
    await using _ = lab
    await node.provision('clean', { clean_steps: apply({ name: 'QuietBoot', value: 'Enabled' }) })
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable' })
    expect((await node.machine())!.power()).toBe('off')
  })

  test.each([
    ['a value that it cannot have', { name: 'QuietBoot', value: 'Perhaps' }, 'invalid value for setting(s): QuietBoot'],
    ['one that is read-only', { name: 'SerialNumber', value: 'x' }, 'invalid value for setting(s): SerialNumber'],
    ['one that the firmware lacks', { name: 'Nonsense', value: 'x' }, 'the firmware has no attribute Nonsense'],
    ['one without a value', { name: 'QuietBoot' }, ": 'value'"],
  ])('%s fails the cleaning and says why', async (_, setting, sentence) => {
    const { lab, node, call } = await manageable()
    await using __ = lab
    const before = await bios(call)
    await node.provision('clean', { clean_steps: apply(setting) })
    const failed = await node.settled()
    expect(failed).toMatchObject({ provision_state: 'clean failed', fault: 'clean failure', maintenance: true })
    expect(failed.last_error).toContain(sentence)
    expect(await bios(call)).toEqual(before)
  })

  test('among steps of the agent: the machine is back in its ramdisk for the next one', async () => {
    const { lab, node, call } = await manageable()
    await using _ = lab
    const erase: RequestedStep = { interface: 'deploy', step: 'erase_devices_metadata' }
    await node.provision('clean', { clean_steps: [...apply({ name: 'MemTest', value: 'true' }), erase] })
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
    expect(await bios(call)).toMatchObject({ MemTest: 'True' })
  })
})

test('firmware updates change versions, and the first one is remembered', async () => {
  const { lab, node, call } = await manageable()
  await using _ = lab
  const settings = [
    { component: 'bios', url: 'http://images.invalid/bios-2.7.1.bin' },
    { component: 'bmc', url: 'http://images.invalid/bmc.bin' },
  ]
  await node.provision('clean', { clean_steps: [{ interface: 'firmware', step: 'update', args: { settings } }] })
  expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
  const [bios, bmc] = await versions(call)
  expect(bios).toMatchObject({ initial_version: '1.0.0', current_version: '2.7.1', last_version_flashed: '2.7.1' })
  expect(bmc).toMatchObject({ initial_version: '2.0.0', current_version: '2.0.1' })
})

test('RAID steps make and remove what was requested', async () => {
  const { lab, node, call } = await manageable()
  await using _ = lab
  const before = (await node.machine())!.spec.disks.map(({ name }) => name)
  expect(before.length).toBeGreaterThan(0)
  const disks = [{ size_gb: 'MAX', raid_level: '1', is_root_volume: true }]
  expect((await call('PUT', 'states/raid', { logical_disks: disks })).status).toBe(204)
  await node.provision('clean', { clean_steps: [{ interface: 'raid', step: 'create_configuration' }] })
  expect(await node.settled()).toMatchObject({ provision_state: 'manageable', raid_config: { logical_disks: disks } })
  const machine = (await node.machine())!
  expect(machine.firmware.volumes).toEqual(disks)
  expect(machine.spec.disks.map(({ name }) => name)).toEqual(before)
  await node.provision('clean', { clean_steps: [{ interface: 'raid', step: 'delete_configuration' }] })
  expect(await node.settled()).toMatchObject({ raid_config: {}, target_raid_config: { logical_disks: disks } })
})

test('boot mode and secure boot belong to the machine, which boots accordingly', async () => {
  const { lab, node, call } = await manageable()
  await using _ = lab
  expect((await call('PUT', 'states/boot_mode', { target: 'bios' })).status).toBe(202)
  expect(await node.until(({ reservation }) => reservation === null)).toMatchObject({
    boot_mode: 'bios',
    last_error: null,
  })
  await call('PUT', 'states/secure_boot', { target: true })
  const refused = await node.until(({ reservation }) => reservation === null)
  expect(refused.last_error).toBe(
    `Failed to change secure_boot state to 'True': Redfish exception occurred. Error: Configuring secure boot requires UEFI for node ${node.uuid}`,
  )
  await call('PUT', 'states/boot_mode', { target: 'uefi' })
  await node.until(({ reservation }) => reservation === null)
  await call('PUT', 'states/secure_boot', { target: true })
  expect(await node.until(({ reservation }) => reservation === null)).toMatchObject({ secure_boot: true })
  expect((await node.machine())!.firmware.report()).toMatchObject({ bootMode: 'uefi', secureBoot: true })
})

test('virtual media, as BareMetal Operator attaches a data image', async () => {
  const { lab, node, call } = await manageable()
  await using _ = lab
  const rest = () => node.until(({ reservation }) => reservation === null)
  const url = 'http://images.invalid/data.iso'
  expect((await call('POST', 'vmedia', { device_type: 'cdrom', image_url: url })).status).toBe(204)
  await rest()
  expect((await call('GET', 'vmedia')).body).toEqual([
    { image: url, inserted: true, media_types: ['CD', 'DVD'] },
    { image: null, inserted: false, media_types: ['Floppy'] },
    { image: null, inserted: false, media_types: ['USBStick'] },
  ])
  expect((await call('DELETE', 'vmedia?device_types=cdrom')).status).toBe(204)
  await rest()
  expect((await call('GET', 'vmedia')).body).toMatchObject([{ inserted: false }, {}, {}])
})

test('event subscriptions, as BareMetal Operator makes and removes them', async () => {
  const { lab, call } = await manageable()
  await using _ = lab
  const Destination = 'https://listener.invalid/events'
  const wanted = { Destination, Context: 'mine', HttpHeaders: [{ Authorization: 'Basic x' }] }
  const made = await call('POST', 'vendor_passthru?method=create_subscription', wanted)
  expect(made).toMatchObject({ status: 200, body: { Id: '1', Context: 'mine', Protocol: 'Redfish', Destination } })
  expect((await call('GET', 'vendor_passthru?method=get_all_subscriptions')).body).toMatchObject({
    'Members@odata.count': 1,
  })
  expect((await call('GET', 'vendor_passthru/get_subscription', { id: '1' })).body).toMatchObject({ Destination })
  expect((await call('DELETE', 'vendor_passthru?method=delete_subscription', { id: '1' })).status).toBe(200)
  const again = await call('DELETE', 'vendor_passthru?method=delete_subscription', { id: '1' })
  expect(again).toMatchObject({ status: 404, sentence: expect.stringContaining('Redfish delete_subscription failed') })
})

test('an NMI and an indicator reach the machine', async () => {
  const { lab, node, call } = await manageable()
  await using _ = lab
  expect((await call('PUT', 'management/inject_nmi', {})).status).toBe(204)
  expect((await call('PUT', 'management/indicators/LED@system', { state: 'blinking' })).status).toBe(204)
  expect((await call('GET', 'management/indicators/LED@system')).body).toEqual({ state: 'blinking' })
  expect((await node.machine())!.firmware.indicator('system', 'LED')).toBe('blinking')
})

test('firmware is kept over a restart of ironstage', async () => {
  const path = await mkdtemp(join(tmpdir(), 'ironstage-firmware-'))
  const open = async () => {
    const folder = await openStateFolder(path)
    return { folder, lab: await composeStage({ folder, disks: 'described' }) }
  }
  const first = await open()
  const uuid = await first.lab.enroll(first.lab.spec(1), { bios_interface: 'redfish' })
  const machine = first.lab.machines.list()[0]!
  await machine.firmware.setBootMode('bios')
  await machine.firmware.flash('bmc', 'http://images.invalid/9.9.9.bin')
  await first.lab[Symbol.asyncDispose]()
  first.folder[Symbol.dispose]()

  const second = await open()
  const restarted = second.lab.machines.get(machine.spec.id)!
  expect(restarted.firmware.report()).toMatchObject({ bootMode: 'bios' })
  expect(restarted.firmware.report().firmware.find(({ component }) => component === 'bmc')!.version).toBe('9.9.9')
  expect(await second.lab.client.node(uuid)).toMatchObject({ uuid })
  await second.lab[Symbol.asyncDispose]()
  second.folder[Symbol.dispose]()
})
