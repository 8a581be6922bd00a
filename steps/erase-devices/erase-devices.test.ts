import { describe, expect, test } from 'vitest'
import { scriptedTarget, type Script, type ScriptedOptions } from '../../test/kit/scripted-target.js'
import { stepContext } from '../../test/kit/step-context.js'
import { LSBLK } from '../hardware/block-devices.js'
import type { Step, StepContext } from '../sdk/step.js'
import { eraseDevices, eraseDevicesMetadata } from './erase-devices.js'

const listing = (...blockdevices: object[]) => JSON.stringify({ blockdevices })
const disk = (kname: string, serial: string) => ({ kname, type: 'disk', size: 10 * 2 ** 30, serial })

function machine(options: ScriptedOptions = {}, script: Script = {}) {
  const target = scriptedTarget(
    {
      'udevadm settle': '',
      sync: '',
      [LSBLK.join(' ')]: listing(disk('sda', 'A'), disk('sdb', 'B')),
      'lsblk --json': (argv) => {
        const name = argv.at(-1)!.slice(5)
        return listing(
          { kname: name, type: 'disk' },
          { kname: `${name}1`, type: 'part' },
          { kname: `${name}2`, type: 'part' },
        )
      },
      'blockdev --getss': '512\n',
      'blockdev --getsize64': `${10 * 2 ** 30}\n`,
      'blockdev --rereadpt': '',
      shred: '',
      wipefs: '',
      dd: '',
      sgdisk: { code: 2 },
      mdadm: '',
      ...script,
    },
    options,
  )
  const writes = () => target.commands.filter((line) => /^(shred|wipefs|dd|sgdisk|mdadm)/.test(line))
  const run = async (step: Step, context: Partial<StepContext> = {}) => {
    const surroundings = stepContext(target, context)
    return { value: await step.run(surroundings, {}), ...surroundings }
  }
  return { target, writes, run }
}

describe('erase_devices', () => {
  test('overwrites every disk with the options of Ironic, and reports the method', async () => {
    const { run, writes } = machine()
    const node = { driver_internal_info: { agent_erase_devices_iterations: 2, disk_erasure_concurrency: 4 } }
    expect((await run(eraseDevices, { node })).value).toEqual({
      '/dev/sda': 'overwritten 2 times with random data, then with zeros',
      '/dev/sdb': 'overwritten 2 times with random data, then with zeros',
    })
    expect(writes()).toEqual([
      'shred --force --zero --verbose --iterations 2 /dev/sda',
      'shred --force --zero --verbose --iterations 2 /dev/sdb',
    ])
  })

  test('can leave out the zeros', async () => {
    const { run, writes } = machine()
    await run(eraseDevices, { node: { driver_internal_info: { agent_erase_devices_zeroize: false } } })
    expect(writes()[0]).toBe('shred --force --verbose --iterations 1 /dev/sda')
  })

  test('tries every disk, then fails naming those that could not be erased', async () => {
    const { run, writes } = machine(
      {},
      { shred: (argv) => (argv.at(-1) === '/dev/sda' ? { code: 1, stderr: 'shred: I/O error' } : '') },
    )
    await expect(run(eraseDevices)).rejects.toMatchObject({
      type: 'BlockDeviceEraseError',
      details: expect.stringMatching(/^erasing 1 of 2 disks failed: \/dev\/sda: running shred .*: shred: I\/O error$/),
    })
    expect(writes()).toHaveLength(2)
  })
})

test('erase_devices_metadata destroys signatures and both ends of every disk', async () => {
  const { run, writes } = machine({ writable: ['/dev/sda'] })
  expect((await run(eraseDevicesMetadata)).value).toBeNull()
  expect(writes()).toEqual([
    'wipefs --force --all /dev/sda2',
    'wipefs --force --all /dev/sda1',
    'wipefs --force --all /dev/sda',
    'dd bs=512 if=/dev/zero of=/dev/sda count=34 oflag=direct',
    'dd bs=512 if=/dev/zero of=/dev/sda count=33 seek=20971487 oflag=direct',
    'sgdisk -Z /dev/sda',
  ])
})

test('erase_devices_metadata knows disks of 4096-byte sectors', async () => {
  const { run, writes } = machine({ writable: ['/dev/sda'] }, { 'blockdev --getss': '4096\n' })
  await run(eraseDevicesMetadata)
  expect(writes().filter((line) => line.startsWith('dd'))).toEqual([
    'dd bs=4096 if=/dev/zero of=/dev/sda count=6 oflag=direct',
    'dd bs=4096 if=/dev/zero of=/dev/sda count=5 seek=2621435 oflag=direct',
  ])
})

describe('erasing spares or refuses', () => {
  const shredded = (lines: string[]) =>
    lines.filter((line) => line.startsWith('shred')).map((line) => line.split(' ').at(-1))

  test.each<[string, Partial<StepContext>, ScriptedOptions]>([
    ['a disk that the node names', { node: { properties: { skip_block_devices: [{ serial: 'A' }] } } }, {}],
    [
      'a disk among several descriptions',
      { node: { properties: { skip_block_devices: [{ volume_name: 'v' }, { size: 1 }, { name: '/dev/sda' }] } } },
      {},
    ],
    ['a disk that may not be written', {}, { writable: ['/dev/sdb'] }],
    [
      'a read-only disk, where the node says so',
      { node: { driver_internal_info: { agent_erase_skip_read_only: true } } },
      { files: { '/sys/class/block/sda/ro': '1\n' } },
    ],
  ])('spares %s', async (_, context, options) => {
    const { run, writes } = machine(options)
    const { logged } = await run(eraseDevices, context)
    expect(shredded(writes())).toEqual(['/dev/sdb'])
    expect(logged.some(({ message }) => message.startsWith('leaving /dev/sda alone: '))).toBe(true)
  })

  test.each<[string, Partial<StepContext>, ScriptedOptions, RegExp]>([
    [
      'all, on a target that does not allow cleaning',
      {},
      { capabilities: [] },
      /does not allow its disks to be erased/,
    ],
    ['all, when a disk is read-only', {}, { files: { '/sys/class/block/sdb/ro': '1' } }, /^\/dev\/sdb is read-only/],
    [
      'all, when it is not clear what to skip',
      { node: { properties: { skip_block_devices: [{ colour: 'red' }] } } },
      {},
      /skip_block_devices .* "colour" are invalid/,
    ],
  ])('refuses %s', async (_, context, options, sentence) => {
    const { run, writes } = machine(options)
    await expect(run(eraseDevices, context)).rejects.toThrow(sentence)
    expect(writes()).toEqual([])
  })

  test('an array that a skipped disk is part of; others are stopped first', async () => {
    const files = { '/proc/mdstat': 'md1 : active raid1 sda1[0] sdb1[1]\nmd2 : active raid0 sdb2[0]\n' }
    const { run, writes } = machine({ files })
    await run(eraseDevices, { node: { properties: { skip_block_devices: [{ serial: 'A' }] } } })
    expect(writes()).toEqual([
      'wipefs --all --force /dev/md2',
      'mdadm --stop /dev/md2',
      'mdadm --zero-superblock /dev/sdb2',
      'shred --force --zero --verbose --iterations 1 /dev/sdb',
    ])
  })
})
