import { describe, expect, test } from 'vitest'
import { scriptedTarget } from '../../test/kit/scripted-target.js'
import { listBlockDevices, LSBLK, parseLsblk, selectDisks } from './block-devices.js'
import { diskOf, parsePartitions } from './read-partitions.js'

const row = (kname: string, type: string, more = {}) => ({ kname, type, size: 5e9, ...more })
const listing = (...blockdevices: object[]) => JSON.stringify({ blockdevices })

describe('the disks of a listing', () => {
  test.each([
    ['disks, not their partitions', [row('sda', 'disk'), row('sda1', 'part')], ['sda']],
    ['RAID arrays', [row('sda', 'disk'), row('md127', 'raid1')], ['sda', 'md127']],
    [
      'no floppies, RAM disks, loops, drives without a medium',
      [
        row('fd0', 'disk'),
        row('ram0', 'disk'),
        row('zram0', 'disk'),
        row('loop0', 'loop'),
        row('sr0', 'rom'),
        row('sdb', 'disk', { size: 0 }),
      ],
      [],
    ],
    [
      'a multipath device instead of its members, once',
      [
        row('sda', 'disk', { wwn: 'W' }),
        row('dm-0', 'mpath', { wwn: 'W' }),
        row('sdb', 'disk', { wwn: 'W' }),
        row('dm-0', 'mpath', { wwn: 'W' }),
        row('sdc', 'disk', { wwn: 'X' }),
      ],
      ['dm-0', 'sdc'],
    ],
  ])('are %s', (_, rows, expected) => {
    expect(selectDisks(parseLsblk(listing(...rows))).map((found) => found.kname)).toEqual(expected)
  })

  test('old versions write numbers as text and nest', () => {
    const old = listing({
      kname: 'sda',
      type: 'disk',
      size: '1024',
      rota: '1',
      'log-sec': '512',
      children: [row('sda1', 'part')],
    })
    expect(parseLsblk(old)).toMatchObject([
      { kname: 'sda', size: 1024, rota: true, logicalSectors: 512 },
      { kname: 'sda1' },
    ])
  })

  test.each(['', 'sda  8:0', '{"blockdevices": 5}', '[]'])('the listing %j is refused', (text) => {
    expect(() => parseLsblk(text)).toThrow(/lsblk/)
  })
})

test('a disk is described by lsblk, udev and sysfs together, as the real agent describes it', async () => {
  const target = scriptedTarget(
    {
      'udevadm settle': '',
      [LSBLK.join(' ')]: listing({
        ...row('sda', 'disk', { model: 'PEERS DISK', rota: false, serial: 'PEERS0001', wwn: null, tran: 'sata' }),
        'log-sec': 512,
        'phy-sec': 4096,
      }),
      'udevadm info --query=property --name=/dev/sda':
        'DEVLINKS=/dev/disk/by-id/x /dev/disk/by-path/pci-0000:00:1f.2-ata-1\nID_WWN=0x5000c500a0000001\nID_WWN_WITH_EXTENSION=0x5000c500a0000001\nID_SERIAL_SHORT=PEERS0001\nID_SERIAL=PEERS_DISK_PEERS0001\n',
    },
    {
      files: {
        '/sys/class/block/sda/device/vendor': 'ATA     \n',
        '/sys/class/block/sda/device/scsi_device/0:0:0:0/x': '',
      },
    },
  )
  expect(await listBlockDevices(target)).toEqual([
    {
      name: '/dev/sda',
      type: 'disk',
      model: 'PEERS DISK',
      size: 5e9,
      rotational: false,
      wwn: '0x5000c500a0000001',
      serial: 'PEERS0001',
      vendor: 'ATA',
      wwnWithExtension: '0x5000c500a0000001',
      wwnVendorExtension: null,
      hctl: '0:0:0:0',
      byPath: '/dev/disk/by-path/pci-0000:00:1f.2-ata-1',
      logicalSectors: 512,
      physicalSectors: 4096,
      transport: 'sata',
      serials: ['PEERS0001', 'PEERS_DISK_PEERS0001'],
      wwns: ['0x5000c500a0000001'],
    },
  ])
})

describe('partitions', () => {
  test('carry their number, type and labels', () => {
    const table = parsePartitions(
      listing(
        { kname: 'nvme0n1', type: 'disk', pttype: 'gpt' },
        {
          kname: 'nvme0n1p3',
          type: 'part',
          pttype: 'gpt',
          parttype: 'ABC',
          partlabel: 'boot',
          partuuid: 'F00',
          label: 'boot',
          fstype: 'ext4',
        },
      ),
      '/dev/nvme0n1',
    )
    expect(table).toEqual({
      type: 'gpt',
      partitions: [
        {
          name: '/dev/nvme0n1p3',
          number: 3,
          partitionType: 'abc',
          partitionLabel: 'boot',
          partitionUuid: 'f00',
          label: 'boot',
          filesystem: 'ext4',
        },
      ],
    })
  })

  test.each([
    ['/dev/sda1', '/dev/sda'],
    ['/dev/sdaa1', '/dev/sdaa'],
    ['/dev/nvme0n1p2', '/dev/nvme0n1'],
    ['/dev/sda', '/dev/sda'],
    ['/dev/sdb1', undefined],
  ])('%s is on %s', (partition, disk) => {
    expect(diskOf(partition, ['/dev/sda', '/dev/sdaa', '/dev/nvme0n1'])).toBe(disk)
  })
})
