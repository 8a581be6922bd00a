import { describe, expect, test } from 'vitest'
import {
  chooseRootDevice,
  genericHardwareManager,
  listBlockDevices,
  readPartitions,
  type Step,
} from '../../steps/index.js'
import { planTarget } from '../../targets/index.js'
import { GIB, stepMachine, testDisk } from '../kit/step-machine.js'

const step = (name: string): Step => genericHardwareManager.steps.find((candidate) => candidate.name === name)!
const volume = (raid_level: string, size_gb: number | 'MAX', more: object = {}) => ({
  raid_level,
  size_gb,
  controller: 'software',
  ...more,
})
const config = (...logical_disks: object[]) => ({ target_raid_config: { logical_disks } })
const disks = (count: number) => ['sda', 'sdb', 'sdc', 'sdd'].slice(0, count).map((name) => testDisk(name, 100))

interface Row {
  name: string
  type: string
  size: number
  children?: Row[]
}
async function arrays(say: (line: string) => Promise<string>) {
  const flat = (rows: Row[]): Row[] => rows.flatMap((row) => [row, ...flat(row.children ?? [])])
  const { blockdevices } = JSON.parse(await say('lsblk -b --json -o NAME,TYPE,SIZE')) as { blockdevices: Row[] }
  const found = flat(blockdevices).filter(({ type }) => type.startsWith('raid'))
  return Object.fromEntries(found.map(({ name, type, size }) => [name, [type, Math.round(size / GIB)]]))
}

test('create_configuration makes md devices that lsblk, mdadm and the kernel show', async () => {
  await using lab = await stepMachine(disks(3))
  const node = config(volume('1', 20, { volume_name: 'os', is_root_volume: true }), volume('5', 'MAX'))
  expect(await lab.run(step('create_configuration'), {}, node)).toEqual(node.target_raid_config)
  expect(await arrays(lab.say)).toEqual({ md0: ['raid1', 20], md1: ['raid5', 159] })
  expect(await lab.say('mdadm --detail /dev/md0')).toMatch(/Raid Level : raid1[^]*State : clean \n[^]*Name : m1:os/)
  expect(await lab.say('mdadm --examine /dev/sdb2')).toMatch(/Raid Level : raid5[^]*Device Role : Active device 1/)
  expect(await lab.read('/proc/mdstat')).toMatch(/^md0 : active raid1 sdc1\[2\] sdb1\[1\] sda1\[0\]$/m)
  expect(await lab.say('blkid -s TYPE -o value /dev/sda1')).toBe('linux_raid_member\n')
  expect(await lab.say('lsblk -i -o NAME,TYPE /dev/sda')).toBe(
    'NAME    TYPE\nsda     disk\n|-sda1  part\n| `-md0 raid1\n`-sda2  part\n  `-md1 raid5\n',
  )
})

test.each([
  ['0', 3, 'raid0', 120],
  ['1', 3, 'raid1', 120],
  ['5', 3, 'raid5', 120],
  ['6', 4, 'raid6', 120],
  ['1+0', 4, 'raid10', 120],
] as const)('level %s over %i disks is a %s of the size that was requested', async (level, count, type, size) => {
  await using lab = await stepMachine(
    disks(4)
      .slice(0, count)
      .map((disk) => ({ ...disk, size: 200 * GIB })),
  )
  await lab.run(step('create_configuration'), {}, config(volume('1', 10), volume(level, size)))
  expect((await arrays(lab.say))['md1']).toEqual([type, size])
})

test('arrays outlive a reboot with what is on them, also when a member is lost', async () => {
  await using lab = await stepMachine(disks(3))
  await lab.run(step('create_configuration'), {}, config(volume('1', 10, { volume_name: 'os' }), volume('5', 20)))
  await lab.say('dd of=/dev/md1 bs=1M seek=3 status=none', Buffer.alloc(3_000_000, 'raid'))
  await lab.reboot()
  expect(Object.values(await arrays(lab.say))).toEqual([
    ['raid1', 10],
    ['raid5', 20],
  ])
  const name = (await lab.say('mdadm --examine --scan')).includes(':os') && Object.entries(await arrays(lab.say))
  const raid5 = (name as [string, [string, number]][]).find(([, [type]]) => type === 'raid5')![0]
  await lab.say('dd if=/dev/zero of=/dev/sdb bs=1M count=40000 status=none')
  expect(await lab.say(`dd if=/dev/${raid5} bs=1M skip=3 count=1 status=none`)).toBe('raid'.repeat(262144))
  expect(await lab.say(`mdadm --detail /dev/${raid5}`)).toMatch(/State : clean, degraded/)
})

test('physical_disks says by hints which disks a volume takes', async () => {
  await using lab = await stepMachine(disks(4))
  const hints = [{ name: '/dev/sdd' }, { serial: 's== SERIAL-sdb' }]
  await lab.run(step('create_configuration'), {}, config(volume('1', 'MAX', { physical_disks: hints })))
  expect(await lab.read('/proc/mdstat')).toMatch(/^md0 : active raid1 sdb1\[1\] sdd1\[0\]$/m)
  expect((await readPartitions(lab.machine.target, '/dev/sda')).partitions).toEqual([])
})

test('the root volume is the root device, before any hints', async () => {
  await using lab = await stepMachine(disks(3))
  const node = {
    ...config(volume('1', 20), volume('1', 30, { volume_name: 'root', is_root_volume: true })),
    properties: { root_device: { name: '/dev/sda' } },
  }
  expect(chooseRootDevice(await listBlockDevices(lab.machine.target), node).name).toBe('/dev/sda')
  await lab.run(step('create_configuration'), {}, node)
  const devices = await listBlockDevices(lab.machine.target)
  expect(chooseRootDevice(devices, node)).toMatchObject({ name: '/dev/md1', type: 'raid1', volumeName: 'root' })
})

test('delete_configuration leaves no array, no member and no partition table', async () => {
  await using lab = await stepMachine(disks(2))
  await lab.run(step('create_configuration'), {}, config(volume('1', 20), volume('0', 20)))
  await lab.run(step('delete_configuration'))
  expect(await arrays(lab.say)).toEqual({})
  expect(await lab.read('/proc/mdstat')).toBe('Personalities : \nunused devices: <none>\n')
  for (const disk of ['/dev/sda', '/dev/sdb'])
    expect(await readPartitions(lab.machine.target, disk)).toEqual({ type: null, partitions: [] })
  await lab.reboot()
  expect(await arrays(lab.say)).toEqual({})
})

test('a volume that skip_block_devices names is kept, and so are its disks', async () => {
  await using lab = await stepMachine(disks(2))
  await lab.run(step('create_configuration'), {}, config(volume('1', 20), volume('1', 20, { volume_name: 'data' })))
  await lab.run(step('delete_configuration'), {}, { properties: { skip_block_devices: [{ volume_name: 'data' }] } })
  expect(await arrays(lab.say)).toEqual({ md1: ['raid1', 20] })
})

test('apply_configuration replaces what there is, unless it is told not to', async () => {
  await using lab = await stepMachine(disks(2))
  const raid_config = { logical_disks: [volume('1', 20)] }
  await lab.run(step('apply_configuration'), { raid_config })
  expect(await lab.run(step('apply_configuration'), { raid_config })).toEqual(raid_config)
  await expect(lab.run(step('apply_configuration'), { raid_config, delete_existing: false })).rejects.toMatchObject({
    type: 'SoftwareRAIDError',
    details: expect.stringContaining('/dev/sda has partitions: /dev/sda1'),
  })
  expect(await arrays(lab.say)).toEqual({ md0: ['raid1', 20] })
})

test('erasing takes arrays away first', async () => {
  await using lab = await stepMachine(disks(2))
  await lab.run(step('create_configuration'), {}, config(volume('1', 20)))
  await lab.run(step('erase_devices_metadata'))
  expect(await arrays(lab.say)).toEqual({})
})

describe('a configuration that cannot be made', () => {
  test.each([
    ['has a first volume that is no mirror', [volume('5', 10)], 'the first logical disk must be RAID-1'],
    ['is for another controller', [{ ...volume('1', 10), controller: 'megaraid' }], 'the controller "software"'],
    ['has a level that mdadm lacks', [volume('1', 10), volume('50', 10)], 'RAID level 50 is not one of'],
    ['has three volumes', [volume('1', 1), volume('1', 1), volume('1', 1)], 'one or two logical disks'],
    ['has two volumes that take all', [volume('1', 'MAX'), volume('0', 'MAX')], 'only one logical disk can'],
    ['has one name twice', ['a', 'a'].map((volume_name) => volume('1', 1, { volume_name })), 'the same volume_name'],
    ['needs more disks', [volume('1', 10), volume('6', 10)], 'RAID level 6 needs at least 4 disks, and there are 2'],
    ['needs larger disks', [volume('1', 1000)], '/dev/sda has no room for a member of 1024000 MiB'],
    [
      'names a disk that is not there',
      [volume('1', 1, { physical_disks: [{ name: '/dev/sda' }, { name: '/dev/x' }] })],
      'no disk that is free',
    ],
    ['has no size', [{ raid_level: '1', controller: 'software' }], "must have required property 'size_gb'"],
  ])('%s', async (_, logical, sentence) => {
    await using lab = await stepMachine(disks(2))
    await expect(lab.run(step('create_configuration'), {}, config(...logical))).rejects.toMatchObject({
      type: 'SoftwareRAIDError',
      details: expect.stringContaining(sentence),
    })
    expect((await readPartitions(lab.machine.target, '/dev/sda')).partitions).toEqual([])
  })

  test('does not take away what there is', async () => {
    await using lab = await stepMachine(disks(2))
    await lab.run(step('apply_configuration'), { raid_config: { logical_disks: [volume('1', 20)] } })
    const raid_config = { logical_disks: [volume('5', 20)] }
    await expect(lab.run(step('apply_configuration'), { raid_config })).rejects.toThrow('RAID-1')
    expect(await arrays(lab.say)).toEqual({ md0: ['raid1', 20] })
  })
})

test('without a configuration nothing is created', async () => {
  await using lab = await stepMachine(disks(2))
  expect(await lab.run(step('create_configuration'))).toEqual({})
})

describe('a disk that may not be written', () => {
  const only = (lab: Awaited<ReturnType<typeof stepMachine>>, ...names: string[]) => ({
    target: { ...lab.machine.target, disks: { mayWrite: ({ name }: { name: string }) => names.includes(name) } },
  })

  test('becomes no member, and keeps the arrays that it is part of', async () => {
    await using lab = await stepMachine(disks(3))
    const node = config(volume('1', 20))
    await lab.run(step('create_configuration'), {}, node, only(lab, '/dev/sda', '/dev/sdb'))
    expect(await lab.read('/proc/mdstat')).toMatch(/^md0 : active raid1 sdb1\[1\] sda1\[0\]$/m)
    await lab.run(step('delete_configuration'), {}, {}, only(lab, '/dev/sda', '/dev/sdc'))
    expect(await arrays(lab.say)).toEqual({ md0: ['raid1', 20] })
  })
})

test('a plan names every write of a configuration, and makes none', async () => {
  await using lab = await stepMachine(disks(2))
  const writes: string[] = []
  const target = planTarget(lab.machine.target, (write) =>
    writes.push(write.kind === 'run' ? write.argv.join(' ') : ''),
  )
  await lab.run(step('create_configuration'), {}, config(volume('1', 20, { volume_name: 'os' })), { target })
  expect(writes.filter((line) => /^(sgdisk|mdadm)/.test(line))).toEqual([
    'sgdisk --clear /dev/sda',
    'sgdisk --new=1:551M:+20480M --typecode=1:fd00 /dev/sda',
    'sgdisk --clear /dev/sdb',
    'sgdisk --new=1:551M:+20480M --typecode=1:fd00 /dev/sdb',
    'mdadm --create /dev/md0 --force --run --metadata=1 --level 1 --name os --raid-devices 2 /dev/sda1 /dev/sdb1',
  ])
  expect((await readPartitions(lab.machine.target, '/dev/sda')).type).toBeNull()
})
