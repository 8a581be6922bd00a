import { describe, expect, test } from 'vitest'
import { parseLldp, type JsonObject, type PortRecord } from '../../../base/wire/index.js'
import type { DraftPort, Inspected } from './inspection-context.js'
import { runHooks } from './inspection-hooks.js'
import { UPSTREAM_INSPECTION, type InspectionHook, type InspectionConf } from './inspection-conf.js'

const GIB = 2 ** 30
const eth = (n: number, more: JsonObject = {}): JsonObject => ({
  name: `eth${n}`,
  mac_address: `52:54:00:00:00:0${n}`,
  ...more,
})
const storedPort = (n: number): DraftPort => ({
  address: `52:54:00:00:00:0${n}`,
  pxe_enabled: true,
  extra: {},
  local_link_connection: {},
  physical_network: null,
  stored: {} as PortRecord,
  removed: false,
})

interface HookInput {
  inventory?: JsonObject
  plugin?: JsonObject
  conf?: Partial<InspectionConf>
  properties?: JsonObject
  ports?: DraftPort[]
  before?: JsonObject
  taken?: string[]
}

function run(hooks: InspectionHook[], input: HookInput = {}) {
  const inspected: Inspected = {
    uuid: 'u',
    conf: { ...UPSTREAM_INSPECTION, ...input.conf },
    inventory: { interfaces: [eth(1)], ...input.inventory },
    before: input.before ?? null,
    taken: new Set(input.taken ?? []),
    pluginData: { ...input.plugin },
    properties: { ...input.properties },
    ports: input.ports ?? [],
    warnings: [],
  }
  return { problem: runHooks(hooks, inspected), ...inspected }
}

const PORTS: InspectionHook[] = ['validate-interfaces', 'ports']
const addresses = ({ ports }: { ports: DraftPort[] }) =>
  ports.filter(({ removed }) => !removed).map(({ address }) => address.slice(-2))

describe('ports after inspection', () => {
  const inventory = {
    interfaces: [eth(1, { ipv4_address: '192.0.2.1' }), eth(2), eth(3), { ...eth(4), name: 'lo' }],
    boot: { pxe_interface: '01-52-54-00-00-00-03' },
  }
  test.each<[string, Partial<InspectionConf>, string[]]>([
    ['those that booted', { addPorts: 'pxe' }, ['09', '03']],
    ['those with an address', { addPorts: 'active' }, ['09', '01']],
    ['all', { addPorts: 'all' }, ['09', '01', '02', '03']],
    ['none more', { addPorts: 'disabled' }, ['09']],
    ['only those that are there', { addPorts: 'disabled', keepPorts: 'present' }, []],
    ['only those that were added', { addPorts: 'active', keepPorts: 'added' }, ['01']],
  ])('are %s', (_, conf, expected) => {
    expect(addresses(run(PORTS, { inventory, conf, ports: [storedPort(9)] }))).toEqual(expected)
  })

  test('the port that booted is PXE-enabled, unless update_pxe_enabled is off', () => {
    const pxe = (conf: Partial<InspectionConf>) =>
      run(PORTS, { inventory, conf, ports: [storedPort(1), storedPort(3)] }).ports.map(({ pxe_enabled }) => pxe_enabled)
    expect(pxe({})).toEqual([false, true])
    expect(pxe({ updatePxeEnabled: false })).toEqual([true, true])
  })

  test('client ids are stored, and addresses of other nodes get no port', () => {
    const { ports } = run(PORTS, {
      inventory: { interfaces: [eth(1, { client_id: 'c' }), eth(2)] },
      taken: ['52:54:00:00:00:02'],
    })
    expect(ports).toMatchObject([{ extra: { 'client-id': 'c' } }])
  })
})

describe('an inspection fails for', () => {
  test.each<[string, InspectionHook[], HookInput, string]>([
    [
      'an error of the ramdisk',
      ['ramdisk-error'],
      { plugin: { error: 'no' } },
      'Failed to inspect hardware. Reason: The following failures happened while running preprocess hooks for node u:\nError in preprocess hook ramdisk-error: Failed to inspect hardware. Reason: Ramdisk reported error: no',
    ],
    [
      'no usable interface',
      ['validate-interfaces'],
      { inventory: { interfaces: [{ name: 'x', mac_address: 'y' }] } },
      'Failed to inspect hardware. Reason: The following failures happened while running preprocess hooks for node u:\nUnexpected exception InvalidNodeInventory during preprocess hook validate-interfaces: Inventory for node u is invalid: no valid network interfaces',
    ],
    [
      'no interface that add_ports allows',
      ['validate-interfaces'],
      { conf: { addPorts: 'active' } },
      'Failed to inspect hardware. Reason: The following failures happened while running preprocess hooks for node u:\nUnexpected exception InvalidNodeInventory during preprocess hook validate-interfaces: Inventory for node u is invalid: no network interfaces match the configuration (add_ports set to "active")',
    ],
    [
      'no architecture',
      ['architecture'],
      {},
      'Failed to inspect hardware. Reason: Unexpected exception InvalidNodeInventory during processing for node: u. Error: Inventory for node u is invalid: Inventory has malformed or missing CPU architecture information: None for node u.',
    ],
    [
      'no memory',
      ['memory'],
      {},
      'Failed to inspect hardware. Reason: Unexpected exception InvalidNodeInventory during processing for node: u. Error: Inventory for node u is invalid: Inventory has missing memory information: None for node u.',
    ],
    [
      'hints that no disk meets',
      ['root-device'],
      { properties: { root_device: { serial: 'x' } }, inventory: { disks: [{ serial: 'y' }] } },
      'No disks satisfied root device hints for node u',
    ],
    [
      'capabilities that are none',
      ['boot-mode'],
      { properties: { capabilities: 'oops' }, inventory: { boot: { current_boot_mode: 'uefi' } } },
      "Failed to inspect hardware. Reason: Unexpected exception ValueError during processing for node: u. Error: Invalid capabilities string 'oops'.",
    ],
  ])('%s', (_, hooks, input, problem) => {
    expect(run(hooks, input).problem).toBe(problem)
  })
})

describe('properties', () => {
  const pci = [
    { vendor_id: '10de', product_id: '1eb8', bus: '0000:01:00.0' },
    { vendor_id: '8086', product_id: '0001', bus: '0000:02:00.0' },
  ]
  test.each<[InspectionHook, HookInput, JsonObject]>([
    ['architecture', { inventory: { cpu: { architecture: 'aarch64' } } }, { cpu_arch: 'aarch64' }],
    ['cpus', { inventory: { cpu: { count: 8 } } }, { cpus: 8 }],
    ['memory', { inventory: { memory: { physical_mb: 4096 } } }, { memory_mb: 4096 }],
    [
      'boot-mode',
      { inventory: { boot: { current_boot_mode: 'uefi' } }, properties: { capabilities: 'a:b,boot_mode:bios' } },
      { capabilities: 'a:b,boot_mode:uefi' },
    ],
    [
      'cpu-capabilities',
      { inventory: { cpu: { flags: ['vmx', 'aes', 'fpu'] } } },
      { capabilities: 'cpu_vt:true,cpu_aes:true' },
    ],
    [
      'pci-devices',
      {
        plugin: { pci_devices: pci },
        conf: { pciDeviceAliases: [{ vendor_id: '8086', product_id: '0001', name: 'qat' }] },
      },
      { capabilities: 'qat:1' },
    ],
    [
      'accelerators',
      { plugin: { pci_devices: pci } },
      {
        accelerators: [
          {
            vendor_id: '10de',
            device_id: '1eb8',
            type: 'GPU',
            device_info: 'NVIDIA Corporation Tesla T4',
            pci_address: '0000:01:00.0',
          },
        ],
      },
    ],
    [
      'root-device',
      {
        properties: { root_device: { size: '>= 20' } },
        inventory: {
          disks: [
            { name: 'a', size: 10 * GIB },
            { name: 'b', size: 30 * GIB },
          ],
        },
      },
      { root_device: { size: '>= 20' }, local_gb: 29 },
    ],
    ['root-device', { plugin: { root_disk: { size: 10 * GIB } } }, { local_gb: 9 }],
    [
      'raid-device',
      { before: { disks: [{ serial: 'a' }] }, inventory: { disks: [{ serial: 'a' }, { serial: 'b' }] } },
      { root_device: { serial: 'b' } },
    ],
    ['raid-device', { inventory: { disks: [{ serial: 'a' }] } }, {}],
  ])('the hook %s sets properties', (hook, input, expected) => {
    const { properties, problem } = run([hook], input)
    expect(problem).toBeUndefined()
    expect(properties).toEqual(expected)
  })
})

test('extra-hardware turns lists into objects', () => {
  const data = [
    ['cpu', 'physical_0', 'cores', '4'],
    ['cpu', 'physical_0', 'vendor', 'x'],
  ]
  expect(run(['extra-hardware'], { plugin: { data } }).pluginData).toEqual({
    extra: { cpu: { physical_0: { cores: 4, vendor: 'x' } } },
  })
  expect(
    run(['extra-hardware'], { plugin: { data: [['short']] }, conf: { extraHardwareStrict: true } }).pluginData,
  ).toEqual({})
})

const hex = (text: string) => Buffer.from(text).toString('hex')
const LLDP: [number, string][] = [
  [1, '0464d154000001'],
  [2, `05${hex('ge-0/0/1')}`],
  [3, '0078'],
  [5, hex('switch-1')],
  [7, '00140004'],
  [8, '0501c000020102000000'],
  [127, '0080c2010065'],
  [127, `0080c2030065${'03'}${hex('lab')}`],
  [127, '00120f0405f2'],
  // Autonegotiation, PMD capabilities and MAU type.
  [127, '00120f01036c110010'],
]

test('parse-lldp and local-link-connection read the TLVs of a switch', () => {
  const result = run(['validate-interfaces', 'ports', 'parse-lldp', 'local-link-connection'], {
    plugin: { lldp_raw: { eth1: LLDP } },
    ports: [storedPort(1)],
  })
  expect(result.pluginData.parsed_lldp).toEqual({
    eth1: {
      switch_chassis_id: '64:d1:54:00:00:01',
      switch_port_id: 'ge-0/0/1',
      switch_system_name: 'switch-1',
      switch_capabilities_support: ['Bridge', 'Router'],
      switch_capabilities_enabled: ['Bridge'],
      switch_mgmt_addresses: ['192.0.2.1'],
      switch_port_untagged_vlan_id: 101,
      switch_port_vlans: [{ name: 'lab', id: 101 }],
      switch_port_mtu: 1522,
      switch_port_autonegotiation_enabled: true,
      switch_port_autonegotiation_support: true,
      switch_port_physical_capabilities: [
        '1000BASE-T fdx',
        '100BASE-TX fdx',
        '100BASE-TX hdx',
        '10BASE-T fdx',
        '10BASE-T hdx',
        'Asym and Sym PAUSE fdx',
      ],
      switch_port_mau_type: '100BASE-TX full duplex',
    },
  })
  expect(result.ports[0]!.local_link_connection).toEqual({
    port_id: 'ge-0/0/1',
    switch_id: '64:d1:54:00:00:01',
    switch_info: 'switch-1',
  })
})

test('truncated TLVs are skipped', () => {
  expect(
    parseLldp([
      [1, ''],
      [7, '00'],
      [127, '0080c2'],
      [8, '0501c0'],
      [5, hex('s')],
      [2, 'zz'],
      // A VLAN name that is shorter than it says, a text that is not UTF-8, an id of an unknown subtype.
      [127, '0080c20300650461'],
      [4, 'ff'],
      [2, '0661'],
      // A MAU type that Ironic does not know, 25GBASE-R.
      [127, '00120f01036c110070'],
    ]),
  ).toEqual({
    switch_system_name: 's',
  })
})

test('an interface without frames in lldp_raw is read by its own list', () => {
  const result = run(['validate-interfaces', 'ports', 'parse-lldp', 'local-link-connection'], {
    inventory: { interfaces: [eth(1, { lldp: LLDP }), eth(2, { lldp: [] })] },
    plugin: { lldp_raw: { eth1: [] } },
    ports: [storedPort(1), storedPort(2)],
  })
  expect(Object.keys(result.pluginData.parsed_lldp as object)).toEqual(['eth1'])
  expect(result.ports.map(({ local_link_connection: { port_id } }) => port_id)).toEqual(['ge-0/0/1', undefined])
})

test('physical-network is chosen by the CIDR that has the address', () => {
  const { ports } = run(['validate-interfaces', 'ports', 'physical-network'], {
    inventory: { interfaces: [eth(1, { ipv4_address: '10.1.2.3' }), eth(2, { ipv6_address: 'fd00::5%eth2' })] },
    conf: { addPorts: 'all', physicalNetworks: ['10.1.0.0/16:left', 'fd00::/64:right'] },
  })
  expect(ports.map(({ physical_network }) => physical_network)).toEqual(['left', 'right'])
})

describe('root-device', () => {
  const disk = { name: '/dev/sda', serial: 'abc', model: 'A Disk 1', vendor: 'ACME', size: 100.5 * GIB }
  const found = (root_device: JsonObject) =>
    run(['root-device'], { inventory: { disks: [disk] }, properties: { root_device } })

  test.each<[JsonObject, boolean]>([
    [{ serial: 'ABC' }, true],
    [{ model: '<in>disk' }, true],
    [{ size: 100 }, false],
    [{ size: '>=100' }, true],
    [{ size: '<range-in> [ 100 200 ]' }, true],
    [{ wwn: 'none' }, true],
    [{ serial: 's!= abc' }, false],
  ])('%o matches the disk or none', (hints, expected) => {
    const { problem, pluginData } = found(hints)
    expect(pluginData.root_disk).toEqual(expected ? disk : undefined)
    expect(problem).toEqual(expected ? undefined : 'No disks satisfied root device hints for node u')
  })

  test.each([
    [{ size: 'big' }, 'Root device hint "size" is not an integer value. Current value: big'],
    [{ model: '> 5' }, "could not convert string to float: 'a%20disk%201'"],
  ])('the hints %o are refused', (hints, words) => {
    expect(found(hints).problem).toContain(`because they failed to validate. Error: ${words}`)
  })
})
