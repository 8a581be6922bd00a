import { expect, test } from 'vitest'
import { ScriptedLab } from '../../../../test/kit/conductor/scripted-lab.js'
import type { JsonObject } from '../../../../base/wire/index.js'

/** As a real Ironic 39.0.0 answers, to which test/real/conductors/differential/adoption.test.ts compares. */
async function adopted(fields: JsonObject) {
  const lab = await ScriptedLab.open()
  const { uuid } = await lab.conductor.createNode({ driver: 'fake-hardware', ...fields })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.conductor.provision(uuid, { target: 'adopt' })
  return lab.until(uuid, ({ reservation }) => reservation === null)
}

const ramdisk = { deploy_interface: 'ramdisk', boot_interface: 'ipxe' }

test.each<[string, JsonObject, string]>([
  [
    'an image of a word',
    { instance_info: { image_source: 'nonsense' } },
    'Validation of image href nonsense failed, reason: Scheme-less image href is not a UUID..',
  ],
  [
    'an image of a word, whatever deploys it',
    { deploy_interface: 'autodetect', instance_info: { image_source: 'nonsense' } },
    'Validation of image href nonsense failed, reason: Scheme-less image href is not a UUID..',
  ],
  [
    'capabilities that are none, where the boot is prepared',
    { deploy_interface: 'custom-agent', boot_interface: 'ipxe', instance_info: { capabilities: ['x'] } },
    'Error parsing capabilities from Node NODE instance_info field. A dictionary or a "jsonified" dictionary is expected..',
  ],
  ['a ramdisk from the network and no port', ramdisk, 'Node NODE does not have any port associated with it.'],
])('%s is not adopted', async (_, fields, sentence) => {
  const node = await adopted(fields)
  expect(node).toMatchObject({
    provision_state: 'adopt failed',
    target_provision_state: 'active',
    power_state: null,
    last_error: `Error while attempting to adopt node ${node.uuid}: ${sentence.replace('NODE', node.uuid)}`,
  })
  expect(node.deploy_interface).toBe(fields.deploy_interface ?? 'custom-agent')
})

test.each<[string, JsonObject, JsonObject]>([
  ['neither image nor port', { deploy_interface: 'custom-agent' }, { instance_info: {} }],
  [
    'an image, of which is noted what it is of',
    { deploy_interface: 'direct', instance_info: { image_source: 'http://127.0.0.1:9/image' } },
    { instance_info: { image_type: 'whole-disk' }, driver_internal_info: { is_whole_disk_image: true } },
  ],
  [
    'an image of a word whose type is known',
    { instance_info: { image_source: 'nonsense', image_type: 'partition' } },
    { driver_internal_info: { is_whole_disk_image: false } },
  ],
  [
    'network boot, without a boot mode',
    { deploy_interface: 'custom-agent', boot_interface: 'ipxe' },
    { driver_internal_info: { deploy_boot_mode: 'uefi' } },
  ],
  ['capabilities that nothing reads', { instance_info: { capabilities: 'x' } }, {}],
])('a node with %s is adopted', async (_, fields, expected) => {
  expect(await adopted(fields)).toMatchObject({ provision_state: 'active', last_error: null, ...expected })
})

test('a ramdisk with half an image is not adopted; with the whole it is, at the second try', async () => {
  const lab = await ScriptedLab.open()
  const { uuid } = await lab.conductor.createNode({
    driver: 'fake-hardware',
    ...ramdisk,
    instance_info: { kernel: 'k' },
  })
  await lab.conductor.createPort({ node_uuid: uuid, address: '52:54:00:ad:00:01' })
  await lab.provision(uuid, 'manage', 'manageable')
  expect(await lab.provision(uuid, 'adopt', 'adopt failed')).toMatchObject({
    last_error: expect.stringContaining("Missing are: ['ramdisk'].") as string,
  })
  await lab.conductor.updateNode(uuid, () => ({ instance_info: { kernel: 'k', ramdisk: 'r' } }))
  expect(await lab.provision(uuid, 'adopt', 'active')).toMatchObject({ last_error: null })
})

test('a console that cannot be started again is switched off, and said', async () => {
  const lab = await ScriptedLab.open()
  const { uuid } = await lab.conductor.createNode({ driver: 'fake-hardware', console_interface: 'no-console' })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.conductor.updateNode(uuid, () => ({ console_enabled: true }))
  expect(await lab.provision(uuid, 'adopt', 'active')).toMatchObject({
    console_enabled: false,
    last_error: `Failed to start console while taking over the node ${uuid}: Driver fake-hardware does not support console (disabled or not implemented)..`,
  })
})

test('a machine goes on booting its disk, and runs on', async () => {
  const lab = await ScriptedLab.open()
  const { uuid, machine } = await lab.enroll({ boot_interface: 'redfish-virtual-media' })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.conductor.changePower(uuid, 'power on')
  await lab.until(uuid, ({ reservation }) => reservation === null)
  const boots = [...machine.boots]
  await machine.setBoot({ kind: 'cdrom' })
  expect(await lab.provision(uuid, 'adopt', 'active')).toMatchObject({ power_state: 'power on' })
  expect(machine.source).toEqual({ kind: 'disk' })
  expect(machine.boots).toEqual(boots)
})

test('an error that repeats a URL leaves its password out, in the history too', async () => {
  const lab = await ScriptedLab.open()
  const image_source = 'gopher://user:hidden@127.0.0.1/image'
  const { uuid } = await lab.conductor.createNode({ driver: 'fake-hardware', instance_info: { image_source } })
  await lab.provision(uuid, 'manage', 'manageable')
  const { last_error } = await lab.provision(uuid, 'adopt', 'adopt failed')
  expect(last_error).toContain('gopher://user:******@127.0.0.1/image')
  expect(JSON.stringify(await lab.store.history(uuid))).not.toContain('hidden')
})
