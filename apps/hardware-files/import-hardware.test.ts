import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { userError, type UserError } from '../../base/runtime/index.js'
import type { HardwareFleet, MachineHardware } from '../../machine/index.js'
import { checkedHardware } from './checked-hardware.js'
import { importHardware } from './import-hardware.js'

const fixture = (name: string): Promise<Buffer> => readFile(new URL(`../../examples/hardware/${name}`, import.meta.url))

/** The machines of an import, and its sentences. */
function imported(bytes: Uint8Array, keepsIdentities = true): { fleet: HardwareFleet; notes: string; text: string } {
  const { text, notes } = importHardware(bytes, 'it', { keepsIdentities })
  return { fleet: checkedHardware(text, 'it'), notes: notes.join('\n'), text }
}

/** The error of a file that is refused. */
function refusal(bytes: Uint8Array): UserError | undefined {
  try {
    importHardware(bytes, 'it', { keepsIdentities: false })
  } catch (error) {
    return userError(error)
  }
  return undefined
}

const ofInventory = (inventory: object, plugins: object = {}): MachineHardware =>
  imported(Buffer.from(JSON.stringify({ inventory, plugin_data: plugins }))).fleet[0].hardware

test('an Ironic inventory becomes the machine that it describes', async () => {
  const { fleet, notes } = imported(await fixture('ironic-inventory.json'))
  expect(fleet).toEqual([
    {
      hardware: {
        firmware: 'uefi',
        architecture: 'x86_64',
        cpus: 64,
        memoryMib: 262144,
        manufacturer: 'Dell Inc.',
        product: 'PowerEdge R650 (SKU=0A6B;ModelName=PowerEdge R650)',
        serial: '7CHX9R3',
        hostname: 'r12-u07.dc1.example.com',
        nics: [
          {
            name: 'ens1f0',
            mac: 'b4:96:91:aa:10:01',
            ipv4: '10.11.12.21',
            carrier: true,
            lldp: {
              switch: 'arista-eos',
              name: 'leaf-12.dc1.example.com',
              chassis: '44:4c:a8:aa:bb:cc',
              port: 'Ethernet48',
              untaggedVlan: 101,
              vlans: [{ id: 16, name: 'prov' }],
              mtu: 9236,
            },
          },
          { name: 'ens1f1', mac: 'b4:96:91:aa:10:02', ipv4: null, carrier: true, pxe: true, lldp: null },
          { name: 'eno8303', mac: 'b4:45:06:bb:20:03', ipv4: null, carrier: false },
        ],
        disks: [
          {
            name: 'nvme0n1',
            size: 1600321314816,
            serial: 'PHAB123400AB1P6CGN',
            model: 'Dell Ent NVMe P5600 MU U.2 1.6TB',
            wwn: '0x01000000010000005cd2e4aabbcc5551',
            byPath: 'pci-0000:31:00.0-nvme-1',
            rotational: false,
            transport: 'nvme',
            sectorSize: 512,
          },
          {
            name: 'sda',
            size: 599550590976,
            serial: '00f3e2d120a7c26e',
            model: 'PERC H755 Front',
            vendor: 'DELL',
            wwn: '0x6ec2a720d1e2f300',
            wwnExtension: '0x2b0f1a2c3d4e5f60',
            hctl: '0:2:0:0',
            byPath: 'pci-0000:65:00.0-scsi-0:2:0:0',
            rotational: true,
            transport: 'sas',
            sectorSize: 512,
          },
          expect.objectContaining({ name: 'sdb', transport: 'sas', sectorSize: 4096 }),
        ],
      },
    },
  ])
  expect(notes).toContain('interfaces that are no hardware are left out: ens1f0.100')
  expect(notes).toContain('volumes that are made of other disks are left out: /dev/md127')
  expect(notes).toContain('the transport is guessed to be sas: sda')
})

test('hardware data become a machine for each host, with its switch', async () => {
  const { fleet, notes } = imported(await fixture('hardware-data.yaml'))
  expect(fleet).toEqual([
    {
      host: 'metal3/worker-0',
      hardware: {
        architecture: 'x86_64',
        // By manufacturer and product.
        bmc: 'ilo5',
        cpus: 96,
        memoryMib: 393216,
        manufacturer: 'HPE',
        product: 'ProLiant DL380 Gen10 Plus',
        serial: 'CZ21430ABC',
        hostname: 'worker-0.example.com',
        nics: [
          {
            name: 'ens2f0',
            mac: '88:e9:a4:11:22:33',
            ipv4: '172.22.0.30',
            pxe: true,
            lldp: { name: 'n9k-rack7', chassis: '50:87:89:aa:bb:cc', port: 'Ethernet1/18' },
          },
          { name: 'ens2f1', mac: '88:e9:a4:11:22:34', ipv4: null },
        ],
        disks: [
          expect.objectContaining({ name: 'nvme0n1', transport: 'nvme', byPath: 'pci-0000:44:00.0-nvme-1' }),
          expect.objectContaining({ name: 'sda', transport: 'sas', rotational: true, hctl: '2:0:0:0' }),
        ],
      },
    },
    { host: 'metal3/worker-1', hardware: { architecture: 'aarch64', cpus: 4, memoryMib: 8192, disks: [] } },
  ])
  expect(notes).toContain('objects without hardware are left out: BareMetalHost metal3/worker-2')
})

test('the output of lshw becomes a machine, by what it says and by guesses', async () => {
  const { fleet, notes } = imported(await fixture('lshw.json'))
  expect(fleet).toEqual([
    {
      hardware: {
        firmware: 'uefi',
        architecture: 'x86_64',
        cpus: 32,
        memoryMib: 131072,
        manufacturer: 'Supermicro',
        product: 'SYS-620P-TRT',
        serial: 'S469096X2A01234',
        hostname: 'storage-7',
        nics: [
          { name: 'eno1', mac: '3c:ec:ef:aa:bb:01', ipv4: '10.20.30.40', carrier: true },
          { name: 'eno2', mac: '3c:ec:ef:aa:bb:02', carrier: false },
        ],
        disks: [
          {
            name: 'sda',
            size: 480103981056,
            serial: 'PHYF123456AB480B',
            model: 'INTEL SSDSC2KB48',
            hctl: '0:0:0:0',
            rotational: false,
            transport: 'sata',
            sectorSize: 512,
          },
          {
            name: 'sdb',
            size: 16000900661248,
            serial: '71A0A0AAFVGG',
            model: 'MG08SCA16TE',
            vendor: 'TOSHIBA',
            hctl: '1:0:2:0',
            rotational: true,
            transport: 'sas',
            sectorSize: 4096,
          },
          {
            name: 'nvme0n1',
            size: 1920383410176,
            serial: 'S64GNE0R700123',
            model: 'SAMSUNG MZQL21T9HCJR-00A07',
            rotational: false,
            transport: 'nvme',
            sectorSize: 512,
          },
        ],
      },
    },
  ])
  expect(notes).toContain('the NIC that the machine boots from is unknown, so the first one is used: eno1')
})

test('an older lshw prints one tree', async () => {
  const [tree] = JSON.parse((await fixture('lshw.json')).toString()) as object[]
  expect(imported(Buffer.from(JSON.stringify(tree))).fleet[0].hardware).toMatchObject({ cpus: 32 })
})

describe('identities are replaced by made ones', () => {
  test('of the same form, the same ones for the same file, and names are left out', async () => {
    const bytes = await fixture('ironic-inventory.json')
    const { text, fleet, notes } = imported(bytes, false)
    expect(imported(bytes, false).text).toBe(text)
    expect(imported(Buffer.concat([bytes, Buffer.from(' ')]), false).text).not.toBe(text)
    for (const identity of [
      '7CHX9R3',
      'b4:96:91',
      'b4:45:06',
      '44:4c:a8',
      '10.11.12',
      'PHAB123400',
      '5cd2e4aabbcc5551',
      'c2a720d1e2f300',
      'ZA1A2B3C',
      'a1b2c3d4',
      'example.com',
      'prov',
      'r12',
    ])
      expect(text).not.toContain(identity)
    const { hardware } = fleet[0]
    expect(hardware.serial).toMatch(/^\d[A-Z]{3}\d[A-Z]\d$/)
    expect(hardware.nics![0]).toMatchObject({
      mac: expect.stringMatching(/^52:54:f0:/) as string,
      ipv4: expect.stringMatching(/^198\.18\./) as string,
      lldp: { switch: 'arista-eos', name: 'switch-1', port: 'Ethernet48', vlans: [{ id: 16 }] },
    })
    // The disk's WWN in the path is the one that the disk has.
    expect(hardware.disks![2]!.byPath).toBe(`pci-0000:66:00.0-sas-${hardware.disks![2]!.wwn}-lun-0`)
    expect(notes).toContain('--keep-identities')
  })

  test('different ones become different ones, however short they are', () => {
    const disks = Array.from({ length: 10 }, (_, at) => ({
      name: `/dev/sd${'abcdefghij'[at]!}`,
      size: 2 ** 30,
      serial: `${at}`,
    }))
    const bytes = Buffer.from(JSON.stringify({ inventory: { disks } }))
    const serials = imported(bytes, false).fleet[0].hardware.disks!.map(({ serial }) => serial)
    expect(new Set(serials).size).toBe(10)
  })

  test('a serial number that says it is none stays', () => {
    const vendor = { serial_number: 'To be filled by O.E.M.' }
    const bytes = Buffer.from(JSON.stringify({ inventory: { system_vendor: vendor } }))
    expect(imported(bytes, false).fleet[0].hardware.serial).toBe('To be filled by O.E.M.')
  })
})

describe('values that a hardware file cannot hold', () => {
  test('a thousand disks and NICs: the first ones are kept', () => {
    const hardware = ofInventory({
      disks: Array.from({ length: 1000 }, (_, at) => ({ name: `/dev/sd${at}`, size: 2 ** 40 })),
      interfaces: Array.from({ length: 1000 }, (_, at) => ({ name: `eth${at}` })),
    })
    expect(hardware.disks).toHaveLength(16)
    expect(hardware.nics).toHaveLength(64)
  })

  test.each<[string, object, object]>([
    ['a size between sectors', { name: '/dev/sda', size: 2 ** 30 + 5 }, { size: 2 ** 30 }],
    ['a sector of 520 bytes', { name: '/dev/sda', size: 2 ** 30, logical_sectors: 520 }, { sectorSize: 512 }],
    ['a name of a RAID controller', { name: '/dev/cciss!c0d0', size: 2 ** 30 }, { size: 2 ** 30 }],
    ['Fibre Channel', { name: '/dev/sda', size: 2 ** 30, tran: 'fc', hctl: '1:0:0:0' }, { transport: 'sas' }],
    ['an identifier that is no number', { name: '/dev/sda', size: 2 ** 30, wwn: 't10.ATA' }, { name: 'sda' }],
    ['padding', { name: '/dev/sda', size: 2 ** 30, model: ' A\u0000 ' }, { model: 'A' }],
  ])('a disk with %s', (_, disk, expected) => {
    expect(ofInventory({ disks: [disk] }).disks).toMatchObject([expected])
  })

  test.each([
    ['without a medium', { name: '/dev/sdb', size: 0 }],
    ['of nonsense', { name: '/dev/sdb', size: 1e30 }],
    ['of negative size', { name: '/dev/sdb', size: -1 }],
  ])('a disk %s is left out', (_, disk) => {
    expect(ofInventory({ disks: [disk] }).disks).toEqual([])
  })

  test('addresses of InfiniBand, and two devices of one name', () => {
    const mac = '00:11:22:33:44:55'
    const interfaces = [
      { name: 'ib0', mac_address: `a0:00:02:20:fe:80:${mac}` },
      { name: 'ib0', mac_address: mac },
    ]
    expect(ofInventory({ interfaces }).nics).toEqual([{ name: 'ib0' }, { mac }])
  })

  test('numbers of CPUs that are none, another architecture and boot mode', () => {
    const hardware = ofInventory({
      cpu: { count: 1e9, architecture: 'ppc64le' },
      memory: { physical_mb: 0.5 },
      boot: { current_boot_mode: 'opal' },
    })
    expect(hardware).toEqual({ disks: [] })
  })

  test('a switch that is no Ethernet switch, and VLANs that are none', () => {
    const parsed = {
      switch_chassis_id: 'core',
      switch_port_id: 'x'.repeat(500),
      switch_mgmt_addresses: ['nowhere', '192.0.2.1'],
      switch_port_vlans: [{ id: 0 }, { id: 5, name: 'x'.repeat(40) }],
      switch_port_mtu: 1,
    }
    const [nic] = ofInventory({ interfaces: [{ name: 'eth0' }] }, { parsed_lldp: { eth0: parsed } }).nics!
    expect(nic!.lldp).toEqual({ port: 'x'.repeat(120), vlans: [{ id: 5 }], managementAddresses: ['192.0.2.1'] })
  })
})

describe('a file is refused in one sentence', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
  for (const at of [0, 1, 2, 3, 4, 5, 6])
    bomb.push(`${'bcdefgh'[at]!}: &${'bcdefgh'[at]!} [${`*${'abcdefg'[at]!}, `.repeat(10)}]`)

  test.each<[string, string | Uint8Array, string | RegExp]>([
    ['that is empty', ' \n', 'it is empty'],
    ['that is no text', Uint8Array.of(0x1f, 0x8b, 0xff), 'it is no text in UTF-8'],
    [
      'that is cut off',
      '{"inventory": {"disks": [{"name": "/dev/sda", "si',
      /neither JSON nor YAML, and may be cut off/,
    ],
    [
      'of YAML that is cut off',
      'kind: HardwareData\nspec: {hardware: {nics: [{name: a',
      /^it, line 2: this is not YAML/,
    ],
    ['that refers to itself', 'inventory: &a\n  interfaces: [*a]\n', /nested more than 500 levels deep/],
    ['that repeats itself', bomb.join('\n'), /too many aliases/],
    ['that is nested deeply', '['.repeat(100_000), /nested more than 500|neither JSON nor YAML/],
    ['of nonsense', '[1, null, {"a": []}]', 'it is a list of something other than nodes of lshw'],
    ['that is a number', '42', 'it is no mapping'],
    ['with a wrong type', '{"inventory": {"disks": [{"size": "big"}]}}', /inventory\.disks\.0\.size must be number/],
    ['with another inventory', '{"inventory": 5}', /inventory must be object/],
    [
      'with hardware of another type',
      '{"kind": "HardwareData", "spec": {"hardware": {"nics": 3}}}',
      /spec\.hardware\.nics must be array/,
    ],
    ['of lshw with a text for children', '{"id": "a", "class": "system", "children": "x"}', /children must be array/],
    ['with a Secret', 'kind: Secret\nmetadata: {name: x}', 'it has no hardware of a machine, but Secret x'],
    ['with an empty list', 'kind: List\nitems: []', 'it has no hardware of a machine'],
    [
      'whose annotation is broken',
      'kind: BareMetalHost\nmetadata: {name: h, annotations: {inspect.metal3.io/hardwaredetails: "{"}}',
      'the annotation inspect.metal3.io/hardwaredetails of BareMetalHost h has no hardware details',
    ],
    ['of Redfish', '{"@odata.id": "/redfish/v1/Systems/1"}', /a resource of Redfish/],
    ['that is a hardware file', 'cpus: 3\nmemoryMib: 5', /a hardware file already/],
    ['of lsblk', '{"blockdevices": []}', /the output of lsblk/],
    ['of two documents', 'cpus: 3\n---\ncpus: 4', /has 2 documents/],
    [
      'of a thousand and one machines',
      JSON.stringify({
        kind: 'List',
        items: Array.from({ length: 1001 }, (_, at) => ({
          kind: 'HardwareData',
          metadata: { name: `h${at}` },
          spec: { hardware: {} },
        })),
      }),
      /describes 1001 machines/,
    ],
    ['of much YAML', `a: ${'b'.repeat(5 * 2 ** 20)}`, /more than 4 MiB of YAML/],
  ])('%s', (_, text, message) => {
    const error = refusal(Buffer.from(text))
    expect(['hardware-import', 'nested-too-deeply', 'too-many-aliases']).toContain(error?.code)
    expect(error?.message).toMatch(message)
    expect(error?.message).not.toContain('\n')
  })
})
