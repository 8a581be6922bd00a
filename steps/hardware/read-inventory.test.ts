import { describe, expect, test } from 'vitest'
import { scriptedTarget, type Script } from '../../test/kit/scripted-target.js'
import { LSBLK } from './block-devices.js'
import { dmidecodeMemory } from './hardware-tree.js'
import { readHardware } from './read-hardware.js'

const lshw = {
  id: 'peers-node',
  product: 'Peers Virtual Machine',
  vendor: 'Peers',
  serial: 'PEERS-0001',
  children: [
    {
      id: 'core',
      children: [
        { id: 'firmware', vendor: 'EDK II', version: '1.0.0', date: '01/01/2026' },
        {
          id: 'memory',
          size: 1,
          children: [
            { id: 'bank:0', size: 16 * 2 ** 30 },
            { id: 'bank:1', size: 16 * 2 ** 30 },
          ],
        },
        { id: 'cpu' },
      ],
    },
  ],
}
const nic = (name: string, mac: string, carrier: string) => ({
  [`/sys/class/net/${name}/address`]: `${mac}\n`,
  [`/sys/class/net/${name}/carrier`]: carrier,
  [`/sys/class/net/${name}/speed`]: '10000\n',
  [`/sys/class/net/${name}/device/vendor`]: '0x1af4\n',
  [`/sys/class/net/${name}/device/device`]: '0x0001\n',
  [`/sys/class/net/${name}/device/uevent`]: 'DRIVER=virtio_net\nPCI_SLOT_NAME=0000:01:00.0\n',
})
const files = {
  ...nic('eth0', '52:54:00:aa:bb:01', '1\n'),
  ...nic('eth1', '52:54:00:AA:BB:02', '0\n'),
  ...nic('eth2', 'fa:16:3e:00:00:01', '1\n'),
  '/sys/class/net/lo/address': '00:00:00:00:00:00',
  '/sys/class/block/sda/device/vendor': 'ATA     \n',
  '/sys/class/block/sda/device/scsi_device/0:0:0:0/x': '',
  '/proc/meminfo': 'MemTotal:       34603008 kB\nMemFree: 1 kB\n',
  '/proc/cmdline': 'quiet BOOTIF=01-52-54-00-aa-bb-01 ipa-api-url=x',
  '/proc/sys/kernel/hostname': 'peers-node\n',
}
const script: Script = {
  'udevadm settle': '',
  'udevadm info': 'DEVLINKS=/dev/disk/by-path/pci-0000:00:1f.2-ata-1\nID_WWN_WITH_EXTENSION=0x5000c500a0000001\n',
  [LSBLK.join(' ')]: JSON.stringify({
    blockdevices: [
      {
        kname: 'sda',
        model: 'PEERS DISK',
        size: 68719476736,
        rota: false,
        type: 'disk',
        serial: 'PEERS0001',
        wwn: '0x5000c500a0000001',
        'log-sec': 512,
        'phy-sec': 4096,
        tran: 'sata',
      },
    ],
  }),
  'ip -j addr': JSON.stringify([
    {
      ifname: 'eth0',
      addr_info: [
        { family: 'inet', local: '192.0.2.11', scope: 'global' },
        { family: 'inet6', local: 'fe80::5054:ff:feaa:bb01', scope: 'link' },
      ],
    },
    { ifname: 'eth1', addr_info: [] },
  ]),
  'lscpu -J': JSON.stringify({
    lscpu: [
      { field: 'Architecture:', data: 'x86_64' },
      { field: 'CPU(s):', data: '8' },
      {
        field: 'Vendor ID:',
        data: 'X',
        children: [
          {
            field: 'Model name:',
            data: 'Peers CPU @ 2.50GHz',
            children: [
              { field: 'Socket(s):', data: '1' },
              { field: 'CPU max MHz:', data: '2500.0' },
              { field: 'Flags:', data: 'fpu vmx' },
            ],
          },
        ],
      },
    ],
  }),
  'lshw -quiet -json': JSON.stringify([lshw]),
  'ipmitool lan print 1':
    'IP Address Source       : Static Address\nIP Address              : 192.0.2.10\nMAC Address             : 52:54:00:aa:bb:0f\n',
  'ipmitool lan6 print': '',
}

test('a machine is described key by key as the real agent described it (recording agent-full-lifecycle)', async () => {
  const { inventory, rootDisk, bootInterface } = await readHardware(scriptedTarget(script, { files }))
  const common = {
    lldp: null,
    vendor: '0x1af4',
    product: '0x0001',
    client_id: null,
    biosdevname: null,
    speed_mbps: 10000,
    pci_address: '0000:01:00.0',
    driver: 'virtio_net',
  }
  expect(inventory).toEqual({
    interfaces: [
      {
        name: 'eth0',
        mac_address: '52:54:00:aa:bb:01',
        has_carrier: true,
        ipv4_address: '192.0.2.11',
        ipv6_address: 'fe80::5054:ff:feaa:bb01%eth0',
        ...common,
      },
      {
        name: 'eth1',
        mac_address: '52:54:00:aa:bb:02',
        has_carrier: false,
        ipv4_address: null,
        ipv6_address: null,
        ...common,
      },
    ],
    cpu: {
      model_name: 'Peers CPU @ 2.50GHz',
      frequency: '2500.0',
      count: 8,
      architecture: 'x86_64',
      flags: ['fpu', 'vmx'],
      socket_count: 1,
    },
    disks: [
      {
        name: '/dev/sda',
        model: 'PEERS DISK',
        size: 68719476736,
        rotational: false,
        wwn: '0x5000c500a0000001',
        serial: 'PEERS0001',
        vendor: 'ATA',
        wwn_with_extension: '0x5000c500a0000001',
        wwn_vendor_extension: null,
        hctl: '0:0:0:0',
        by_path: '/dev/disk/by-path/pci-0000:00:1f.2-ata-1',
        logical_sectors: 512,
        physical_sectors: 4096,
        tran: 'sata',
      },
    ],
    memory: { total: 35433480192, physical_mb: 32768 },
    bmc_address: '192.0.2.10',
    bmc_v6address: '::/0',
    system_vendor: {
      product_name: 'Peers Virtual Machine',
      serial_number: 'PEERS-0001',
      manufacturer: 'Peers',
      firmware: { vendor: 'EDK II', version: '1.0.0', build_date: '01/01/2026' },
    },
    boot: { current_boot_mode: 'bios', pxe_interface: '01-52-54-00-aa-bb-01' },
    hostname: 'peers-node',
    bmc_mac: '52:54:00:aa:bb:0f',
  })
  expect(rootDisk).toEqual(inventory.disks[0])
  expect(bootInterface).toBe('52:54:00:aa:bb:01')
})

describe('a machine without most programs', () => {
  test('is described by its disks, the rest empty', async () => {
    const bare = { 'udevadm settle': '', [LSBLK.join(' ')]: '{"blockdevices": []}' }
    const { inventory, rootDisk, bootInterface } = await readHardware(scriptedTarget(bare))
    expect(rootDisk).toBeNull()
    expect(bootInterface).toBeNull()
    expect(inventory).toMatchObject({
      interfaces: [],
      disks: [],
      hostname: '',
      bmc_address: null,
      bmc_v6address: null,
      cpu: { count: 0, frequency: '', flags: [] },
      memory: { total: null, physical_mb: null },
      system_vendor: { product_name: '', firmware: { vendor: '' } },
    })
    expect(inventory).not.toHaveProperty('bmc_mac')
  })

  test('gets vendor and memory from sysfs and dmidecode without lshw', async () => {
    const { 'lshw -quiet -json': _, ...rest } = script
    const { inventory } = await readHardware(
      scriptedTarget(
        { ...rest, 'dmidecode --type 17': '\tSize: 16 GB\n\tSize: No Module Installed\n\tSize: 512 MB\n' },
        {
          files: { ...files, '/sys/class/dmi/id/sys_vendor': 'ACME\n', '/sys/class/dmi/id/bios_date': '02/02/2026\n' },
        },
      ),
    )
    expect(inventory.system_vendor).toMatchObject({ manufacturer: 'ACME', firmware: { build_date: '02/02/2026' } })
    expect(inventory.memory.physical_mb).toBe(16 * 1024 + 512)
  })
})

describe('a BMC', () => {
  const bmc = async (extra: Script, skipBmc = false) => {
    const { 'ipmitool lan print 1': _, 'ipmitool lan6 print': __, ...rest } = script
    const { inventory } = await readHardware(scriptedTarget({ ...rest, ...extra }, { files }), { skipBmc })
    return [inventory.bmc_address, inventory.bmc_v6address]
  }
  test.each<[string, Script, (string | null)[]]>([
    ['without ipmitool', {}, [null, null]],
    ['without a device', { ipmitool: { code: 1, stderr: 'Could not open device at /dev/ipmi0' } }, [null, null]],
    ['without an address', { ipmitool: 'IP Address : 0.0.0.0\n' }, ['0.0.0.0', '::/0']],
    [
      'on another channel',
      { ipmitool: { code: 1 }, 'ipmitool lan print 8': 'IP Address : 192.0.2.8\n' },
      ['192.0.2.8', '::/0'],
    ],
    [
      'with an IPv6 address',
      {
        'ipmitool lan print': 'IP Address : 0.0.0.0\n',
        'ipmitool lan6 print': '    Address : ::\n    Address : 2001:db8::8/64\n',
      },
      ['0.0.0.0', '2001:db8::8/64'],
    ],
  ])('has the addresses that ipmitool prints, %s', async (_, extra, expected) =>
    expect(await bmc(extra)).toEqual(expected),
  )

  test('is not looked for when Ironic says so', async () => {
    expect(await bmc({ ipmitool: 'IP Address : 192.0.2.10\n' }, true)).toEqual([null, null])
  })
})

test('dmidecode counts in powers of 1024', () => expect(dmidecodeMemory('')).toBeNull())
