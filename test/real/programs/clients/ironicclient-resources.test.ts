import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Baremetal } from './baremetal.js'
import { commandedIronic, type CommandedIronic } from './commanded-ironic.js'
import { INSTALLATION } from './served.js'

let commanded: CommandedIronic | undefined
let baremetal: Baremetal
let folder: string
beforeAll(async () => {
  commanded = await commandedIronic({ profile: 'upstream' })
  ;({ baremetal, folder } = commanded)
}, INSTALLATION)
afterAll(() => commanded?.[Symbol.asyncDispose]())

/** A node of fake hardware; gives its uuid. */
async function fakeNode(name: string, ...fields: string[]): Promise<string> {
  const { uuid } = await baremetal.json<{ uuid: string }>(
    `node create --driver fake-hardware --name ${name}`,
    ...fields,
  )
  return uuid
}

const names = async (words: string): Promise<string[]> =>
  (await baremetal.json<{ name: string }[]>(words)).map(({ name }) => name).sort()

const VIF = 'a0000000-0000-4000-8000-000000000001'
const STEPS = JSON.stringify([{ interface: 'bios', step: 'apply_configuration', args: { settings: [] }, priority: 90 }])
const RUNBOOK_STEPS = JSON.stringify([
  { interface: 'bios', step: 'apply_configuration', args: { settings: [] }, order: 1 },
])

describe.concurrent('baremetal keeps', () => {
  test('fields of a node: set, unset, listed by filters, pages and columns', async () => {
    const uuid = await fakeNode('fields', '--resource-class', 'gold', '--property', 'cpus=8')
    await baremetal.ok(
      'node set fields --name fields-2 --property memory_mb=2048 --extra rack=b4 --instance-info image_source=http://h/i',
    )
    await baremetal.ok('node set fields-2 --owner anna --description', 'next to the door')
    expect(await baremetal.json(`node show ${uuid}`)).toMatchObject({
      name: 'fields-2',
      resource_class: 'gold',
      owner: 'anna',
      description: 'next to the door',
      properties: { cpus: 8, memory_mb: 2048 },
      extra: { rack: 'b4' },
      instance_info: { image_source: 'http://h/i' },
    })
    await baremetal.ok('node unset fields-2 --extra rack --property cpus --owner --description')
    expect(await baremetal.json('node show fields-2')).toMatchObject({
      extra: {},
      properties: { memory_mb: 2048 },
      owner: null,
      description: null,
    })
    await fakeNode('fields-3', '--resource-class', 'gold')
    expect(await names('node list --resource-class gold --sort name:desc')).toEqual(['fields-2', 'fields-3'])
    expect(await names('node list --resource-class gold --limit 1 --sort name')).toEqual(['fields-2'])
    expect(await baremetal.json('node list --resource-class gold --fields uuid extra')).toHaveLength(2)
    expect(await baremetal.json('node show fields-3 --fields name driver')).toEqual({
      name: 'fields-3',
      driver: 'fake-hardware',
    })
    expect(await baremetal.refused('node set fields-3 --name fields-2')).toMatch(/^1: .*fields-2.*\(HTTP 409\)$/)
    expect(await baremetal.refused('node unset fields-3 --extra nothing')).toBe(
      "1: Couldn't apply patch '{'op': 'remove', 'path': '/extra/nothing'}'. Reason: can't remove a non-existent object 'nothing' (HTTP 400)",
    )
    expect(await baremetal.refused('node list --fields nonsense')).toMatch(/^2: /)
    await baremetal.ok('node delete fields-2 fields-3')
  })

  test('ports, port groups and VIFs', async () => {
    const uuid = await fakeNode('wired')
    const group = await baremetal.json<{ uuid: string }>(
      `port group create --node ${uuid} --name bond0 --mode 802.3ad --property miimon=100`,
    )
    const address = '52:54:00:c1:01:01'
    const port = await baremetal.json<{ uuid: string }>(
      `port create ${address} --node ${uuid} --port-group ${group.uuid} --pxe-enabled false --physical-network physnet1`,
      ...['--local-link-connection', 'switch_id=0a:1b:2c:3d:4e:5f', '--local-link-connection', 'port_id=Eth1'],
    )
    expect(await baremetal.json(`port show ${port.uuid}`)).toMatchObject({
      address,
      node_uuid: uuid,
      portgroup_uuid: group.uuid,
      pxe_enabled: false,
      physical_network: 'physnet1',
      local_link_connection: { switch_id: '0a:1b:2c:3d:4e:5f', port_id: 'Eth1' },
    })
    expect(await baremetal.json(`port show --address ${address}`)).toMatchObject({ uuid: port.uuid })
    expect(await baremetal.json(`port list --port-group bond0`)).toHaveLength(1)
    expect(await baremetal.refused(`port create ${address} --node ${uuid}`)).toBe(
      `1: A port with MAC address ${address} already exists. (HTTP 409)`,
    )
    expect(await baremetal.refused(`port create no-mac --node ${uuid}`)).toBe(
      '1: Expected valid MAC address for address: no-mac (HTTP 400)',
    )
    await baremetal.ok(`port set ${port.uuid} --pxe-enabled --name eth0 --extra slot=3`)
    await baremetal.ok(`port unset ${port.uuid} --extra slot --name`)
    expect(await baremetal.refused(`port unset ${port.uuid} --physical-network`)).toContain('physical')
    await baremetal.ok('port group set bond0 --address 52:54:00:c1:01:02 --unsupport-standalone-ports')
    expect(await baremetal.json('port group show bond0')).toMatchObject({ standalone_ports_supported: false })
    await baremetal.ok('port group unset bond0 --address --property miimon')
    expect(await baremetal.json('port group list')).toMatchObject([{ name: 'bond0' }])
    await baremetal.ok(`node vif attach wired ${VIF}`)
    expect(await baremetal.json('node vif list wired')).toEqual([{ id: VIF }])
    await baremetal.ok(`node vif detach wired ${VIF}`)
    expect(await baremetal.json('node vif list wired')).toEqual([])
    await baremetal.ok(`port delete ${port.uuid}`)
    await baremetal.ok('port group delete bond0')
    await baremetal.ok('node delete wired')
  })

  test('traits', async () => {
    await fakeNode('featured')
    await baremetal.ok('node add trait featured CUSTOM_GPU HW_CPU_X86_VMX')
    expect(await baremetal.json('node trait list featured')).toHaveLength(2)
    expect(await baremetal.refused('node add trait featured gpu')).toBe(
      "1: Failed to add trait gpu: Schema error for trait: 'gpu' is not valid under any of the given schemas. " +
        "Possible root cause: 'gpu' does not match '^CUSTOM_[A-Z0-9_]+$' (HTTP 400)",
    )
    await baremetal.ok('node remove trait featured CUSTOM_GPU')
    expect(await baremetal.refused('node remove trait featured CUSTOM_GPU')).toContain('CUSTOM_GPU')
    await baremetal.ok('node remove trait featured --all')
    expect(await baremetal.json('node trait list featured')).toEqual([])
  })

  test('allocations, which take a node and give it back', async () => {
    const uuid = await fakeNode('allocated', '--resource-class', 'iron', '--no-automated-clean')
    await baremetal.ok('node manage allocated --wait 60')
    await baremetal.ok('node provide allocated --wait 60')
    // Fake hardware does not know its power before it was told one, and until then it is no candidate.
    await baremetal.ok('node power off allocated')
    while ((await baremetal.json<{ power_state: unknown }>('node show allocated')).power_state === null);
    expect(await baremetal.json('allocation create --name taker --resource-class iron --wait 60')).toMatchObject({
      state: 'active',
      node_uuid: uuid,
    })
    expect(await baremetal.json('node show allocated')).toMatchObject({ instance_uuid: expect.any(String) })
    expect(await baremetal.refused('allocation create --name late --resource-class iron --wait 60')).toMatch(
      /^1: Allocation \S+ failed: Failed to process allocation \S+: no available nodes match the resource class iron\.$/,
    )
    await baremetal.ok('allocation set taker --name owner-of-it --extra for=tests')
    await baremetal.ok('allocation unset owner-of-it --extra for')
    expect(await baremetal.json('allocation list --resource-class iron --state active')).toMatchObject([
      { name: 'owner-of-it' },
    ])
    await baremetal.ok('allocation delete owner-of-it late')
    expect(await baremetal.json('node show allocated')).toMatchObject({ instance_uuid: null })
  })

  test('deploy templates and runbooks', async () => {
    await baremetal.ok('deploy template create CUSTOM_TEMPLATE --extra by=me --steps', STEPS)
    expect(await baremetal.json('deploy template show CUSTOM_TEMPLATE')).toMatchObject({
      name: 'CUSTOM_TEMPLATE',
      extra: { by: 'me' },
      steps: JSON.parse(STEPS) as unknown,
    })
    expect(await baremetal.refused('deploy template create CUSTOM_TEMPLATE --steps', STEPS)).toBe(
      '1: A deploy template with name CUSTOM_TEMPLATE already exists. (HTTP 409)',
    )
    await baremetal.ok('deploy template set CUSTOM_TEMPLATE --name CUSTOM_RENAMED')
    await baremetal.ok('deploy template unset CUSTOM_RENAMED --extra by')
    expect(await names('deploy template list')).toEqual(['CUSTOM_RENAMED'])
    await baremetal.ok('deploy template delete CUSTOM_RENAMED')

    await baremetal.ok('runbook create --name CUSTOM_RUNBOOK --public true --steps', RUNBOOK_STEPS)
    await baremetal.ok('runbook trait add CUSTOM_RUNBOOK CUSTOM_EXTRA')
    expect(await baremetal.json('runbook trait list CUSTOM_RUNBOOK')).toHaveLength(1)
    await fakeNode('by-the-book', '--no-automated-clean')
    await baremetal.ok('node add trait by-the-book CUSTOM_EXTRA')
    await baremetal.ok('node manage by-the-book --wait 60')
    await baremetal.ok('node clean by-the-book --runbook CUSTOM_RUNBOOK --wait 60')
    expect(await baremetal.json('node show by-the-book')).toMatchObject({ provision_state: 'manageable' })
    await baremetal.ok('runbook trait remove CUSTOM_RUNBOOK CUSTOM_EXTRA')
    expect(await baremetal.refused('node clean by-the-book --runbook CUSTOM_RUNBOOK')).toMatch(
      /^1: Runbook \S+ has no traits configured\. .*\(HTTP 400\)$/,
    )
    await baremetal.ok('runbook set CUSTOM_RUNBOOK --extra by=me')
    await baremetal.ok('runbook unset CUSTOM_RUNBOOK --extra by')
    expect(await names('runbook list')).toEqual(['CUSTOM_RUNBOOK'])
    await baremetal.ok('runbook delete CUSTOM_RUNBOOK')
    expect(await baremetal.refused('runbook show CUSTOM_RUNBOOK')).toContain('(HTTP 404)')
  })

  test('inspection rules', async () => {
    const actions = JSON.stringify([{ op: 'set-attribute', args: { path: '/extra/seen', value: 'yes' } }])
    const conditions = JSON.stringify([{ op: 'is-true', args: { value: '{inventory[cpu][count]}' } }])
    const rule = await baremetal.json<{ uuid: string }>(
      'inspection rule create --description seen --actions',
      ...[actions, '--conditions', conditions],
    )
    expect(await baremetal.json(`inspection rule show ${rule.uuid}`)).toMatchObject({
      description: 'seen',
      priority: 0,
      actions: JSON.parse(actions) as unknown,
    })
    await baremetal.ok(`inspection rule set ${rule.uuid} --description looked-at`)
    expect(await baremetal.json('inspection rule list')).toMatchObject([{ uuid: rule.uuid }])
    expect(await baremetal.refused('inspection rule create --actions', '[{"op":"explode","args":{}}]')).toContain(
      '(HTTP 400)',
    )
    await baremetal.ok(`inspection rule delete ${rule.uuid}`)
  })

  test('chassis, volume connectors and targets', async () => {
    const chassis = await baremetal.json<{ uuid: string }>('chassis create --description rack-4 --extra floor=2')
    await baremetal.ok(`chassis set ${chassis.uuid} --description rack-5`)
    await baremetal.ok(`chassis unset ${chassis.uuid} --extra floor`)
    expect(await baremetal.json(`chassis show ${chassis.uuid}`)).toMatchObject({ description: 'rack-5', extra: {} })
    const uuid = await fakeNode('volumes', '--chassis-uuid', chassis.uuid)
    expect(await names(`node list --chassis ${chassis.uuid}`)).toEqual(['volumes'])
    expect(await baremetal.refused(`chassis delete ${chassis.uuid}`)).toContain('(HTTP 400)')

    const connector = await baremetal.json<{ uuid: string }>(
      `volume connector create --node ${uuid} --type iqn --connector-id iqn.2026-01.test:one`,
    )
    const target = await baremetal.json<{ uuid: string }>(
      `volume target create --node ${uuid} --type iscsi --boot-index 0 --volume-id 0001 --property target_lun=1`,
    )
    // Connections of a machine that is on are not to be changed.
    await baremetal.ok('node power off volumes')
    await baremetal.ok(`volume connector set ${connector.uuid} --connector-id iqn.2026-01.test:two`)
    await baremetal.ok(`volume target set ${target.uuid} --boot-index 1`)
    expect(await baremetal.json(`volume connector list --node ${uuid}`)).toHaveLength(1)
    expect(await baremetal.json(`volume target show ${target.uuid}`)).toMatchObject({ boot_index: 1 })
    await baremetal.ok(`volume connector delete ${connector.uuid}`)
    await baremetal.ok(`volume target delete ${target.uuid}`)
    await baremetal.ok('node delete volumes')
    await baremetal.ok(`chassis delete ${chassis.uuid}`)
  })

  test('children of a node, and shards', async () => {
    const parent = await fakeNode('parent')
    const child = await fakeNode('child', '--parent-node', parent, '--shard', 'blue')
    expect(await baremetal.ok('node children list parent -f value')).toContain(child)
    expect(await names('node list --shards blue --include-children')).toEqual(['child'])
    expect(await baremetal.json('shard list')).toContainEqual({ name: 'blue', count: 1 })
    await baremetal.ok('node delete child')
    await baremetal.ok('node delete parent')
  })

  test('what drivers and conductors there are', async () => {
    expect(await names('driver list')).toEqual(expect.arrayContaining(['fake-hardware', 'idrac', 'ipmi', 'redfish']))
    expect(await baremetal.json('driver show redfish')).toMatchObject({ name: 'redfish', type: 'dynamic' })
    expect(await baremetal.json('driver property list redfish')).toContainEqual(
      expect.objectContaining({ property: 'redfish_address' }),
    )
    expect(await baremetal.json('driver raid property list redfish')).toContainEqual(
      expect.objectContaining({ property: 'raid_level' }),
    )
    expect(await baremetal.json('driver passthru list fake-hardware')).toEqual(expect.any(Array))
    expect(await baremetal.json('conductor list')).toEqual([
      { hostname: 'ironstage', conductor_group: '', alive: true },
    ])
    expect(await baremetal.json('conductor show ironstage')).toMatchObject({
      drivers: expect.arrayContaining(['redfish']),
    })
    expect(await baremetal.refused('driver show nonsense')).toContain('(HTTP 404)')
    expect(await baremetal.refused('conductor show nowhere')).toBe(
      '1: Conductor nowhere could not be found. (HTTP 404)',
    )
  })

  test('all that a file lists', async () => {
    const file = join(folder, 'resources.json')
    const node = {
      name: 'from-file',
      driver: 'fake-hardware',
      ports: [{ address: '52:54:00:c1:02:01' }],
      portgroups: [{ name: 'file-bond', ports: [{ address: '52:54:00:c1:02:02' }] }],
    }
    await writeFile(file, JSON.stringify({ chassis: [{ description: 'of the file', nodes: [node] }] }))
    await baremetal.ok(`create ${file}`)
    expect(await baremetal.json('port list --node from-file')).toHaveLength(2)
  })
})
