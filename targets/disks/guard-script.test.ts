import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeDisks } from '../../test/kit/fake-disks.js'
import { holdScript, resolveScript } from './guard-script.js'
import type { DiskSelector } from './selector.js'

let host: FakeDisks
beforeEach(async () => {
  host = new FakeDisks(await mkdtemp(join(tmpdir(), 'ironstage-host-')))
  await mkdir(join(host.root, 'own'))
})
afterEach(() => rm(host.root, { recursive: true, force: true }))

/** Runs the guard for a command that writes a device; prints `ok` or the refusal, once for all shells. */
function guard(device: string, { selectors = byId('A'), arrays = false } = {}): string[] {
  const outputs = host
    .run(
      `${resolveScript(selectors)}
look_around
check_device "$dev/${device}" ${arrays ? 'arrays' : 'none'}
echo ok`,
    )
    .map(({ stdout, stderr }) => `${stdout.trim()}${stderr}`.replaceAll(`${host.root}/dev/`, '/dev/'))
  return [...new Set(outputs)]
}

/** Holds the disks open after the shell text `meanwhile`; prints the number of the opened device or the refusal. */
function holdDisks(selectors: readonly DiskSelector[], meanwhile = ''): string[] {
  const outputs = host.run(`${resolveScript(selectors)}
${holdScript(selectors)}
${meanwhile}
hold_disks
node /dev/fd/8`)
  return [...new Set(outputs.map(({ stdout }) => stdout.trim()))]
}

const byId = (...values: string[]): DiskSelector[] => values.map((value) => ({ kind: 'identity', value }))

describe('the named disk', () => {
  test.each([
    ['serial number of NVMe', { 'device/serial': 'A   \n' }, 'A'],
    ['serial number of virtio', { serial: 'A' }, 'A'],
    ['unit serial number page of SCSI', { 'device/vpd_pg80': '\0x\0\x01A' }, 'A'],
    ['WWN of SCSI', { 'device/wwid': 'naa.5000C500A1B2C3D4\n' }, '0x5000c500a1b2c3d4'],
    ['EUI of NVMe', { wwid: 'eui.0025385b71b00a1c\n' }, 'eui.0025385b71b00a1c'],
  ])('is found by the %s', async (_, files, value) => {
    await host.disk('sda', { 'device/serial': 'other' })
    await host.disk('sdb', files)
    await host.partition('sdb', 'sdb1')
    expect(guard('sdb', { selectors: byId(value) })).toEqual(['ok'])
    expect(guard('sdb1', { selectors: byId(value) })).toEqual(['ok'])
    expect(guard('sda', { selectors: byId(value) })).toEqual([
      'refused: /dev/sda is on the disk sda, which may not be written: it is not the named disk',
    ])
  })

  test('is found by its by-id name; a missing name is refused', async () => {
    const number = await host.disk('sdb')
    await host.file('dev/disk/by-id/ata-X_1', number)
    expect(guard('sdb', { selectors: byId('ata-X_1') })).toEqual(['ok'])
    expect(guard('sdb', { selectors: byId('ata-X_2') })).toEqual([
      'refused: there is no disk with the serial number, WWN or by-id name ata-X_2',
    ])
  })

  test('must also have the kernel name, where the selector has one', async () => {
    await host.disk('sda', { serial: 'B' })
    await host.disk('sdb', { serial: 'A' })
    const named = (name: string): DiskSelector[] => [{ kind: 'name', name, identity: 'A' }]
    expect(guard('sdb', { selectors: named('sdb') })).toEqual(['ok'])
    expect(guard('sda', { selectors: named('sda') })).toEqual([
      'refused: sda is not the disk with the serial number or WWN A: that is sdb now',
    ])
  })

  test('is refused when two disks have the same identity', async () => {
    await host.disk('sda', { serial: 'A' })
    await host.disk('sdb', { serial: 'A' })
    expect(guard('sda')[0]).toContain('more than one disk has the serial number or WWN A: sda sdb')
  })

  test('is not another disk that has its old kernel name', async () => {
    await host.disk('sda', { serial: 'B' })
    await host.disk('sdb', { serial: 'A' })
    expect(guard('sda')[0]).toContain('/dev/sda is on the disk sda, which may not be written')
    expect(guard('sdc')).toEqual(['refused: /dev/sdc is no block device there'])
  })
})

describe('the checked disk is held open', () => {
  beforeEach(async () => {
    await host.disk('sda', { serial: 'A' })
    await host.disk('sdb', { serial: 'B' })
  })

  test('by its number', () => {
    expect(holdDisks(byId('A'))).toEqual(['8:0'])
    expect(holdDisks([{ kind: 'name', name: 'sdb', identity: 'B' }])).toEqual(['8:1'])
  })

  test.each([
    ['its name leads to another device', 'printf 8:1 >"$dev/sda"', 'sda was replaced by another disk during the check'],
    [
      'another disk has its number',
      'echo C >"$sys/block/sda/serial"',
      'sda was replaced by another disk during the check',
    ],
    ['it is gone', 'rm -f "$dev/sda"', 'sda could not be opened'],
  ])('and refused when %s', async (_, meanwhile, why) => {
    const restored = `${meanwhile}; trap 'printf 8:0 >"$dev/sda"; echo A >"$sys/block/sda/serial"' EXIT`
    expect(holdDisks(byId('A'), restored)).toEqual([`refused: ${why}`])
  })
})

describe('a disk in use is refused', () => {
  let partition: string
  beforeEach(async () => {
    await host.disk('sda', { serial: 'A' })
    partition = await host.partition('sda', 'sda1')
    await host.disk('sdb', { serial: 'B' })
    await host.partition('sdb', 'sdb1')
  })
  const refusal = () => {
    const outputs = guard('sda')
    expect(outputs).toHaveLength(1)
    return outputs[0]!.replace('refused: /dev/sda may not be written: ', '')
  }

  test('with a partition that is mounted', async () => {
    expect(guard('sda')).toEqual(['ok'])
    await host.mounts({ [partition]: '/data' })
    expect(refusal()).toBe('sda1 is mounted on /data')
  })

  test('with a mount that only another process can see', async () => {
    await host.mounts({ '8:99': '/' })
    await host.mounts({ [partition]: '/inside' }, '4711')
    expect(refusal()).toBe('sda1 is mounted on /inside')
  })

  test('but not for a mount of a step below /run/ironstage', async () => {
    await host.mounts({ [partition]: '/run/ironstage/sda1' })
    expect(guard('sda')).toEqual(['ok'])
  })

  test('nor where a process with another root sees that mount, at the same path behind its root', async () => {
    for (const name of ['sda.1', 'sda1']) {
      await host.mounts({ [partition]: `/run/ironstage/mnt/${name}` })
      await host.mounts({ [partition]: `/machine/root/run/ironstage/mnt/${name}` }, '4711')
      expect(guard('sda')).toEqual(['ok'])
    }
    await host.mounts({ [partition]: '/machine/root/run/ironstage/mnt/sda11' }, '4711')
    expect(refusal()).toBe('sda1 is mounted on /machine/root/run/ironstage/mnt/sda11')
  })

  test('but for one at such a path that is no mount of a step here', async () => {
    await host.mounts({ [partition]: '/host/run/ironstage/mnt/sda1' }, '4711')
    expect(refusal()).toBe('sda1 is mounted on /host/run/ironstage/mnt/sda1')
    await host.mounts({ [await host.partition('sdb', 'sdb2')]: '/run/ironstage/mnt/sda1' })
    expect(refusal()).toBe('sda1 is mounted on /host/run/ironstage/mnt/sda1')
  })

  test('that holds the running system, through LVM on an array on a partition', async () => {
    await host.over('md127', ['sda1', 'sdb1'])
    await host.mounts({ [await host.over('dm-0', ['md127'], { 'dm/name': 'vg-root', 'dm/uuid': 'LVM-x' })]: '/' })
    expect(refusal()).toBe('the running system is on dm-0')
  })

  test('that is under an active volume, mounted or not', async () => {
    await host.over('dm-0', ['sda1'], { 'dm/name': 'vg-data', 'dm/uuid': 'LVM-x' })
    expect(refusal()).toBe('dm-0 (vg-data) is built on it')
  })

  test('that is a member of an array, unless the command works on arrays', async () => {
    await host.over('md127', ['sda1'])
    expect(refusal()).toBe('it is a member of the array md127')
    expect(guard('md127', { arrays: true })).toEqual(['ok'])
    expect(guard('sda1', { arrays: true })).toEqual(['ok'])
  })

  test('that shares an array with another disk', async () => {
    await host.over('md127', ['sda1', 'sdb1'])
    expect(guard('md127', { arrays: true })[0]).toContain('/dev/md127 is on the disk sdb, which may not be written')
  })

  test('that is a path of a multipath device', async () => {
    await host.over('dm-0', ['sda'], { 'dm/name': 'mpatha', 'dm/uuid': 'mpath-3600' })
    expect(refusal()).toBe('it is a path of the multipath device dm-0')
  })

  test('with swap', async () => {
    await host.file('proc/swaps', `Filename Type Size\n${host.root}/dev/sda1 partition 1\n`)
    expect(refusal()).toBe('sda1 is swap space')
  })

  test('with a member of a btrfs file system that is mounted from another disk', async () => {
    await host.file('sys/fs/btrfs/uuid/devices/sda1', '')
    expect(refusal()).toBe('sda1 is a member of a btrfs file system that is mounted')
  })

  test('that a loop device is attached to', async () => {
    await host.disk('loop3', { 'loop/backing_file': `${host.root}/dev/sda1` })
    expect(refusal()).toBe('loop3 is attached to sda1')
  })
})
