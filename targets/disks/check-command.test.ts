import { describe, expect, test } from 'vitest'
import type { TargetCapability, TargetCommand } from '../executor.js'
import { visibleListing } from './visible-disks.js'
import { checkCommand } from './check-command.js'
import { diskSelector } from './selector.js'

const judged = (
  line: string,
  { allow = [] as TargetCapability[], disposable = false, effect = 'writes' as TargetCommand['effect'] } = {},
) => {
  const [program = '', ...more] = line.split(' ')
  const has = (capability: TargetCapability) => allow.includes(capability)
  return checkCommand({ argv: [program, ...more], effect }, { has, disposable, folders: ['/own'] })
}
const operands = (devices: string[], paths: string[] = [], arrays = false) => ({
  kind: 'run',
  operands: { devices, paths, arrays },
})
/** Rights in the cell of a command beyond the least, or why it is refused. */
const cell = (line: string, more: Parameters<typeof judged>[1] = {}) => {
  const judgement = judged(line, more)
  if (judgement.kind === 'refuse') return judgement.why
  if (judgement.cell === null) return 'none'
  const beyond = Object.entries(judgement.cell).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value))
  return beyond.map(([name, value]) => (Array.isArray(value) ? value.join(' ') : name)).join(', ')
}

describe('the check of a command line', () => {
  test.each([
    ['coreos-installer install --ignition-file /run/ironstage/x.ign /dev/sda', ['/dev/sda']],
    ['coreos-installer install dev/sdb --append-karg x=/dev/sda', ['/dev/sdb']],
    ['sgdisk --zap-all /dev/disk/../sda', ['/dev/sda']],
    ['sgdisk --zap-all dev/sda', ['/dev/sda']],
    ['shred /dev/sda dev/loop0', ['/dev/sda', '/dev/loop0']],
    ['dd if=/dev/zero of=/dev/nvme0n1 bs=1M', ['/dev/nvme0n1']],
    ['dd if=/dev/sdb of=/dev/sda', ['/dev/sdb', '/dev/sda']],
    ['wipefs --all /dev/sda', ['/dev/sda']],
    ['udevadm trigger --name-match=/dev/sdb', ['/dev/sdb']],
  ])('%s: devices %j', (line, devices) => {
    expect(judged(line)).toMatchObject(operands(devices))
  })

  test.each([
    ['dd of=/run/ironstage/mnt/sda4/etc/hosts', ['/run/ironstage/mnt/sda4/etc/hosts']],
    ['dd of=/own/../etc/passwd', ['/etc/passwd']],
    ['dd of=/own/x', []],
    ['rm -rf /run/ironstage/mnt/sda4/x', ['/run/ironstage/mnt/sda4/x']],
    ['rm -rf etc/x', ['/etc/x']],
    ['cp -t/etc file', ['/etc', '/file']],
    ['cp --target-directory=/etc /own/x', ['/etc']],
    ['tee hosts', ['/hosts']],
    ['mount -o rw /dev/sda4 /run/ironstage/mnt/sda4', ['/run/ironstage/mnt/sda4']],
  ])('%s: files %j', (line, paths) => {
    expect(judged(line)).toMatchObject({ kind: 'run', operands: { paths } })
  })

  test.each<[string, string]>([
    ['sh -c wipefs', 'it is not known what sh would change'],
    ['podman run --privileged x', 'it is not known what podman would change'],
    ['/srv/own/sync /dev/sda', 'it is not known what sync would change'],
    ['./sgdisk /dev/sda', 'it is not known what sgdisk would change'],
    ['sgdisk --zap-all', 'sgdisk names no disk, so it could write any'],
    ['mdadm --stop /dev/md0', 'it needs software-raid, which is not allowed'],
    ['efibootmgr -b 0001 -B', 'it needs efi-variables, which is not allowed'],
    ['systemctl reboot', 'it needs reboot, which is not allowed'],
    ['systemctl poweroff', 'it needs power, which is not allowed'],
    ['systemctl start agent.service', 'it needs hand-over, which is not allowed'],
    ['hostnamectl hostname x', 'it needs hostname, which is not allowed'],
    ['fio --filename=/dev/sda', 'it needs burn-in, which is not allowed'],
    ...[
      '-o rw,remount /dev/sda1 /',
      '-o ro /dev/sda1 /mnt',
      '-t fuse x /run/ironstage/mnt/x',
      '--bind / /run/ironstage/mnt/x',
    ].map((words): [string, string] => [
      `mount ${words}`,
      'mount only runs for a device of the named disk, on a folder of /run/ironstage/mnt',
    ]),
  ])('the command line %s is refused', (line, why) => {
    expect(judged(line)).toEqual({ kind: 'refuse', why })
  })

  test('allows capabilities one by one, and unknown programs on a disposable target', () => {
    expect(judged('mdadm --stop /dev/md0', { allow: ['software-raid'] })).toMatchObject(
      operands(['/dev/md0'], [], true),
    )
    expect(judged('mdadm --stop --scan', { allow: ['software-raid'] })).toMatchObject({ kind: 'refuse' })
    expect(judged('mdadm --create /dev/md0 --level 1 /dev/sda1 /dev/sda2', { allow: ['software-raid'] })).toMatchObject(
      {
        kind: 'run',
        operands: { devices: ['/dev/sda1', '/dev/sda2'], made: ['/dev/md0'], paths: [], arrays: true },
      },
    )
    expect(judged('fio --filename=/dev/sda', { allow: ['burn-in'] })).toMatchObject(operands(['/dev/sda']))
    expect(judged('systemctl reboot', { allow: ['reboot'] })).toMatchObject(operands([]))
    expect(judged('frobnicate /dev/sda')).toMatchObject({
      kind: 'refuse',
      why: 'it is not known what frobnicate would change',
    })
    expect(judged('frobnicate /dev/sda', { disposable: true })).toMatchObject(operands(['/dev/sda']))
    expect(judged('sh -c wipefs /dev/sda', { disposable: true })).toMatchObject(operands(['/dev/sda']))
    expect(judged('rm -rf /etc/x', { disposable: true })).toMatchObject(operands([]))
  })

  test('counts a program that is known to write as writing, even when the step declares that it reads', () => {
    const reads = (line: string) => judged(line, { effect: 'reads' })
    expect(reads('sh -c cat')).toMatchObject({ kind: 'run', operands: null })
    expect(reads('tee /dev/sdb')).toMatchObject(operands(['/dev/sdb']))
    expect(reads('dd of=/etc/x')).toMatchObject(operands([], ['/etc/x']))
    expect(reads('losetup -d /dev/loop0')).toMatchObject(operands(['/dev/loop0']))
    expect(reads('wipefs --all /dev/sdb')).toMatchObject(operands(['/dev/sdb']))
    expect(reads('efibootmgr -B -b 1')).toMatchObject({ kind: 'refuse' })
    expect(reads('mount -o ro /dev/sdb1 /run/ironstage/mnt/sdb1')).toMatchObject(
      operands(['/dev/sdb1'], ['/run/ironstage/mnt/sdb1']),
    )
  })

  test('finds no operands of commands that only read', () => {
    const looks = [
      'dd if=/dev/sdb',
      'sgdisk -p /dev/sdb',
      'wipefs /dev/sdb',
      'blockdev --getsize64 /dev/sdb',
      'efibootmgr -v',
      'mdadm --detail /dev/md0',
      'systemctl is-active x',
      'mount',
      'hdparm -I /dev/sdb',
      'coreos-installer --version',
    ]
    for (const line of looks) expect([line, judged(line)]).toEqual([line, expect.objectContaining({ operands: null })])
  })

  test.each([
    '--append-karg root=/dev/disk/by-label/dm-mpath-root',
    '--append-karg=resume=/dev/mapper/swap',
    '--delete-karg root=/dev/sdb1 --console ttyS0,115200',
    '--image-file /dev/fd/3 -p metal -s stable',
  ])('ignores devices in kernel arguments and other values: %s', (options) => {
    expect(judged(`coreos-installer install ${options} /dev/sda`)).toMatchObject(operands(['/dev/sda']))
  })
})

describe('the rights of a command in its cell', () => {
  test.each([
    ['cat /etc/x', 'reads', ''],
    ['tee /dev/sda', 'reads', 'writesDisk'],
    ['sync', 'writes', ''],
    ['sgdisk --zap-all /dev/sda', 'writes', 'writesDisk, sys_admin, partitions'],
    ['sgdisk -p /dev/sda', 'reads', 'sys_admin, partitions'],
    [
      'coreos-installer install /dev/sda',
      'writes',
      'writesDisk, sys_admin, network, partitions, udevControl, unixSockets',
    ],
    ['coreos-installer --version', 'reads', 'network, udevControl'],
    ['hdparm --user-master u --security-erase NULL /dev/sda', 'writes', 'writesDisk, sys_rawio sys_admin'],
    ['mdadm --monitor --program=/x /dev/md0', 'writes', 'it needs software-raid, which is not allowed'],
    ['udevadm settle', 'reads', 'udevControl'],
    ['udevadm control --exit', 'reads', 'writesDisk'],
    ['ip -j addr', 'reads', 'network'],
    ['ipmitool lan print 1', 'reads', 'ipmi[0-9] ipmi/[0-9] ipmidev/[0-9]'],
    ['umount /run/ironstage/mnt/sda1', 'writes', 'none'],
  ] as const)('of "%s", which says that it %s: %s', (line, effect, expected) => {
    expect(cell(line, { effect })).toBe(expected)
  })

  test('are few more where arrays are allowed, and only for modes of mdadm that start no other programs', () => {
    const allow = ['software-raid'] as const
    expect(cell('mdadm --stop /dev/md0', { allow: [...allow] })).toBe('writesDisk, sys_admin mknod, partitions, sysfs')
    expect(cell('mdadm --monitor --program=/x /dev/md0', { allow: [...allow] })).toBe('writesDisk')
    expect(cell('systemctl reboot', { allow: ['reboot'] })).toBe('none')
  })
})

describe('a disk selector', () => {
  test.each([
    ['S3X9NX0K', undefined, { kind: 'identity', value: 'S3X9NX0K' }],
    ['0x5000c500a1b2c3d4', undefined, { kind: 'identity', value: '0x5000c500a1b2c3d4' }],
    ['/dev/disk/by-id/wwn-0x5000', undefined, { kind: 'identity', value: 'wwn-0x5000' }],
    ['/dev/sda', 'S3X9', { kind: 'name', name: 'sda', identity: 'S3X9' }],
    ['nvme0n1', '0x1', { kind: 'name', name: 'nvme0n1', identity: '0x1' }],
  ])('%s names a disk', (device, erase, expected) => {
    expect(diskSelector(device, erase)).toEqual(expected)
  })

  test.each([['/dev/sda'], ['sda'], ['/dev/disk/by-path/pci-0-part1'], ['/dev/disk/by-id/x-part1'], ['a b'], ['']])(
    '%s is refused: it names no whole disk',
    (device) => {
      expect(() => diskSelector(device)).toThrow(/name|partition/)
    },
  )

  test('a second kernel name does not identify the disk', () => {
    expect(() => diskSelector('/dev/sda', '/dev/sda')).toThrow()
    expect(() => diskSelector('/dev/sda', 'sdb')).toThrow()
  })
})

test('a listing shows the devices on the named disks, and a loop device as the disk that it stands for', () => {
  const listing = {
    blockdevices: [
      { kname: 'sda', type: 'disk', serial: 'A', children: [{ kname: 'sda1', type: 'part' }] },
      { kname: 'loop0', type: 'loop', serial: null, model: null, children: [{ kname: 'loop0p1', type: 'part' }] },
      { kname: 'loop1', type: 'loop' },
    ],
  }
  const seen = { names: new Set(['loop0', 'loop0p1']), standIns: new Map([['loop0', 'ironstage-1']]) }
  expect(JSON.parse(visibleListing(JSON.stringify(listing), seen))).toEqual({
    blockdevices: [
      {
        kname: 'loop0',
        type: 'disk',
        serial: 'ironstage-1',
        model: 'loop',
        children: [{ kname: 'loop0p1', type: 'part' }],
      },
    ],
  })
  expect(JSON.parse(visibleListing('lsblk: nonsense', seen))).toEqual({ blockdevices: [] })
})
