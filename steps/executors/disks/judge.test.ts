import { describe, expect, test } from 'vitest'
import type { Capability } from '../executor.js'
import { visibleListing } from './hidden.js'
import { judge } from './judge.js'
import { diskSelector } from './selector.js'

const judged = (line: string, { allow = [] as Capability[], disposable = false, effect = 'writes' as const } = {}) => {
  const [program = '', ...more] = line.split(' ')
  const has = (capability: Capability) => allow.includes(capability)
  return judge({ argv: [program, ...more], effect }, { has, disposable, folders: ['/own'] })
}
const run = (devices: string[], paths: string[] = [], arrays = false) => ({
  kind: 'run',
  operands: { devices, paths, arrays },
})

describe('what a command would change', () => {
  test.each([
    ['coreos-installer install --ignition-file /run/ironstage/x.ign /dev/sda', run(['/dev/sda'])],
    ['sgdisk --zap-all /dev/disk/../sda', run(['/dev/sda'])],
    ['dd if=/dev/zero of=/dev/nvme0n1 bs=1M', run(['/dev/nvme0n1'])],
    ['dd if=/dev/sdb of=/dev/sda', run(['/dev/sdb', '/dev/sda'])],
    ['dd of=/run/ironstage/sda4-7/etc/hosts', run([], ['/run/ironstage/sda4-7/etc/hosts'])],
    ['dd of=/own/../etc/passwd', run([], ['/etc/passwd'])],
    ['dd of=/own/x', run([])],
    ['rm -rf /run/ironstage/sda4/x', run([], ['/run/ironstage/sda4/x'])],
    ['rm -rf etc/x', run([], ['/etc/x'])],
    ['mount -o rw /dev/sda4 /run/ironstage/sda4', run(['/dev/sda4'], ['/run/ironstage/sda4'])],
    ['/usr/sbin/wipefs --all /dev/sda', run(['/dev/sda'])],
    ['sync', { kind: 'run', operands: null }],
    ['udevadm trigger --name-match=/dev/sdb', run(['/dev/sdb'])],
  ])('%s', (line, expected) => {
    expect(judged(line)).toEqual(expected)
  })

  test.each([
    ['sh -c wipefs', 'what sh would change is not known'],
    ['podman run --privileged x', 'what podman would change is not known'],
    ['sgdisk --zap-all', 'sgdisk names no disk, so it could mean any'],
    ['mdadm --stop /dev/md0', 'it was not allowed to use software-raid'],
    ['efibootmgr -b 0001 -B', 'it was not allowed to use efi-variables'],
    ['systemctl reboot', 'it was not allowed to use reboot'],
    ['systemctl poweroff', 'it was not allowed to use power'],
    ['systemctl start agent.service', 'it was not allowed to use hand-over'],
    ['hostnamectl hostname x', 'it was not allowed to use hostname'],
    ['fio --filename=/dev/sda', 'it was not allowed to use burn-in'],
  ])('%s is refused', (line, why) => {
    expect(judged(line)).toEqual({ kind: 'refuse', why })
  })

  test('is allowed one by one, and for all that cannot be told where nothing matters', () => {
    expect(judged('mdadm --stop /dev/md0', { allow: ['software-raid'] })).toEqual(run(['/dev/md0'], [], true))
    expect(judged('mdadm --stop --scan', { allow: ['software-raid'] })).toMatchObject({ kind: 'refuse' })
    expect(judged('mdadm --create /dev/md0 --level 1 /dev/sda1 /dev/sda2', { allow: ['software-raid'] })).toEqual({
      kind: 'run',
      operands: { devices: ['/dev/sda1', '/dev/sda2'], made: ['/dev/md0'], paths: [], arrays: true },
    })
    expect(judged('fio --filename=/dev/sda', { allow: ['burn-in'] })).toEqual(run(['/dev/sda']))
    expect(judged('systemctl reboot', { allow: ['reboot'] })).toEqual(run([]))
    expect(judged('sh -c wipefs /dev/sda', { disposable: true })).toEqual(run(['/dev/sda']))
    expect(judged('rm -rf /etc/x', { disposable: true })).toEqual(run([]))
  })

  test('is nothing for what reads, but a mount counts: it may repair a file system', () => {
    const reads = (line: string) =>
      judge(
        { argv: line.split(' ') as [string], effect: 'reads' },
        { has: () => false, disposable: false, folders: [] },
      )
    expect(reads('sh -c cat')).toEqual({ kind: 'run', operands: null })
    expect(reads('mount -o ro /dev/sdb1 /run/ironstage/sdb1')).toEqual(run(['/dev/sdb1'], ['/run/ironstage/sdb1']))
  })
})

describe('how a disk is named', () => {
  test.each([
    ['S3X9NX0K', undefined, { kind: 'identity', value: 'S3X9NX0K' }],
    ['0x5000c500a1b2c3d4', undefined, { kind: 'identity', value: '0x5000c500a1b2c3d4' }],
    ['/dev/disk/by-id/wwn-0x5000', undefined, { kind: 'identity', value: 'wwn-0x5000' }],
    ['/dev/sda', 'S3X9', { kind: 'name', name: 'sda', identity: 'S3X9' }],
    ['nvme0n1', '0x1', { kind: 'name', name: 'nvme0n1', identity: '0x1' }],
  ])('%s', (device, erase, expected) => {
    expect(diskSelector(device, erase)).toEqual(expected)
  })

  test.each([['/dev/sda'], ['sda'], ['/dev/disk/by-path/pci-0'], ['/dev/disk/by-id/x-part1'], ['a b'], ['']])(
    '%s is refused',
    (device) => {
      expect(() => diskSelector(device)).toThrow(/name|partition/)
    },
  )

  test('another kernel name is no proof of which disk is meant', () => {
    expect(() => diskSelector('/dev/sda', '/dev/sda')).toThrow()
    expect(() => diskSelector('/dev/sda', 'sdb')).toThrow()
  })
})

test('a listing shows what stands on the disks that were named, with a loop device as the disk that it stands for', () => {
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
