import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeDisks } from '../../test/kit/fake-disks.js'
import { guardScript, holdScript, resolveScript } from './guard-script.js'
import { diskSelector, type DiskSelector, type PlaceSelector } from './selector.js'

let host: FakeDisks
beforeEach(async () => {
  host = new FakeDisks(await mkdtemp(join(tmpdir(), 'ironstage-places-')))
  await mkdir(join(host.root, 'own'))
})
afterEach(() => rm(host.root, { recursive: true, force: true }))

const VIRTIO = ['pci0000:00', '0000:00:04.0 pci', 'virtio1 virtio']
const PLACE = 'pci-0000:00:04.0'

/** Runs shell text with the functions over the fake host; what it prints, once for all shells. */
function printed(text: string): string[] {
  const outputs = host.run(text).map(({ stdout, stderr }) => `${stdout.trim()}${stderr}`)
  return [...new Set(outputs)]
}

const atPlace = (facts: string | null = null): PlaceSelector => ({ kind: 'place', place: PLACE, size: null, facts })
const resolved = (selector: DiskSelector): string[] => printed(`${resolveScript([selector])}\nprintf '%s\\n' $allowed`)
/** Facts of the disk at the place, as they are now. */
const held = (): string => printed('facts_of vda')[0]!

describe('the places of a disk, as udev names them, from sysfs alone', () => {
  test.each<[string, string[], string[]]>([
    [
      'virtio behind a bridge',
      ['pci0000:00', '0000:00:02.0 pci', '0000:01:00.0 pci', 'virtio2 virtio'],
      ['pci-0000:01:00.0', 'virtio-pci-0000:01:00.0'],
    ],
    [
      'virtio without PCI',
      ['platform', 'a003e00.virtio_mmio platform', 'virtio0 virtio'],
      ['platform-a003e00.virtio_mmio'],
    ],
    [
      'virtio-scsi',
      ['pci0000:00', '0000:00:05.0 pci', 'virtio2 virtio', 'host7 scsi', 'target7:0:1 scsi', '7:0:1:2 scsi'],
      ['pci-0000:00:05.0-scsi-0:0:1:2'],
    ],
    ['Xen', ['vbd-51712 xen'], []],
    ['USB, whose names take more than this', ['pci0000:00', '0000:00:14.0 pci', '1-1 usb'], []],
    ['nothing that is known', ['somewhere'], []],
  ])('on %s', async (_, controllers, places) => {
    await host.disk('vda')
    await host.plug('vda', controllers)
    expect(printed('places_of vda')).toEqual([places.join('\n')])
  })

  test('on NVMe, with the number of the namespace', async () => {
    await host.disk('nvme0n1', { nsid: '1\n' })
    await host.plug('nvme0n1', ['pci0000:00', '0000:00:06.0 pci', 'nvme0 nvme'])
    expect(printed('places_of nvme0n1')).toEqual(['pci-0000:00:06.0-nvme-1'])
  })

  test('on SATA, with the port of its controller, in both spellings', async () => {
    await host.disk('sda')
    await host.plug('sda', ['pci0000:00', '0000:00:1f.2 pci', 'ata3', 'host2 scsi', 'target2:0:0 scsi', '2:0:0:0 scsi'])
    await host.file('sys/devices/pci0000:00/0000:00:1f.2/ata3/ata_port/ata3/port_no', '1\n')
    expect(printed('places_of sda')).toEqual(['pci-0000:00:1f.2-ata-1.0\npci-0000:00:1f.2-ata-1'])
  })

  test('not on Fibre Channel, whose names sysfs does not show: there the link of udev counts', async () => {
    const number = await host.disk('sda')
    await host.plug('sda', ['pci0000:00', '0000:00:07.0 pci', 'host3 scsi', 'rport-3:0-1', '3:0:0:0 scsi'])
    expect(printed('places_of sda')).toEqual([''])
    await host.file('dev/disk/by-path/pci-0000:00:07.0-fc-0x5-lun-0', number)
    expect(printed('at_place pci-0000:00:07.0-fc-0x5-lun-0')).toEqual(['sda'])
  })
})

describe('a disk that is named by its place', () => {
  beforeEach(async () => {
    await host.disk('vda', { diskseq: '9\n' })
    await host.plug('vda', VIRTIO)
    await host.disk('vdb', { diskseq: '10\n' })
    await host.plug('vdb', ['pci0000:00', '0000:00:05.0 pci', 'virtio2 virtio'])
  })

  test('is found without any link of udev, and by the name that older ones give', () => {
    expect(resolved(atPlace())).toEqual(['vda'])
    expect(resolved({ ...atPlace(), place: `virtio-${PLACE}` })).toEqual(['vda'])
    expect(resolved({ ...atPlace(), place: 'pci-0000:00:09.0' })).toEqual([
      'refused: there is no disk at /dev/disk/by-path/pci-0000:00:09.0',
    ])
  })

  test('is not the disk that a link of udev leads to, but that is plugged in elsewhere', async () => {
    await host.file('dev/disk/by-path/pci-0000:00:09.0', '8:1')
    expect(resolved({ ...atPlace(), place: 'pci-0000:00:09.0' })).toEqual([
      'refused: /dev/disk/by-path/pci-0000:00:09.0 leads to a disk that is plugged in elsewhere: !vdb',
    ])
    await host.file(`dev/disk/by-path/${PLACE}`, '8:1')
    expect(resolved(atPlace())[0]).toMatch(/^refused: .* leads to a disk that is plugged in elsewhere: vda !vdb$/)
  })

  test('is refused when two disks have it', async () => {
    await host.plug('vdb', VIRTIO)
    expect(resolved(atPlace())).toEqual([`refused: more than one disk is at /dev/disk/by-path/${PLACE}: vda vdb`])
  })

  test.each<[string, Record<string, string>]>([
    ['number in the order of appearance', { diskseq: '11\n' }],
    ['size', { size: '2000\n' }],
    ['serial number', { serial: 'B\n' }],
    ['device number', { dev: '8:7\n' }],
  ])('is refused once the disk there has another %s', async (_, files) => {
    const facts = held()
    expect(resolved(atPlace(facts))).toEqual(['vda'])
    for (const [path, text] of Object.entries(files)) await host.file(`sys/devices/vda/${path}`, text)
    expect(resolved(atPlace(facts))[0]).toMatch(`refused: another disk is at /dev/disk/by-path/${PLACE} now: vda`)
  })

  test('is refused once another disk is plugged in there', async () => {
    const facts = held()
    await host.plug('vda', ['pci0000:00', '0000:00:05.0 pci', 'virtio2 virtio'])
    await host.plug('vdb', VIRTIO)
    expect(resolved(atPlace(facts))[0]).toMatch(`refused: another disk is at /dev/disk/by-path/${PLACE} now: vdb`)
  })

  test('is held open, and refused when the disk there is replaced during the check', async () => {
    const hold = (meanwhile: string) =>
      printed(`${resolveScript([atPlace(held())])}
${holdScript([atPlace(held())])}
${meanwhile}
hold_disks
node /dev/fd/8`)
    expect(hold('')).toEqual(['8:0'])
    const restored = `trap 'echo 9 >"$sys/block/vda/diskseq"' EXIT; echo 12 >"$sys/block/vda/diskseq"`
    expect(hold(restored)).toEqual(['refused: vda was replaced by another disk during the check'])
  })

  test('is refused while it is in use, as any other', async () => {
    const partition = await host.partition('vda', 'vda1')
    await host.mounts({ [partition]: '/' })
    const guard = guardScript([atPlace(held())], { devices: ['$dev/vda'], paths: [], arrays: false })
    const script = guard.slice(guard.indexOf(`allowed=`)).replace(`'$dev/vda'`, '"$dev/vda"')
    expect(printed(script)).toEqual([`refused: ${host.root}/dev/vda may not be written: the running system is on vda1`])
  })

  test('is listed with its place where it has no identity, and with what uses it', async () => {
    await host.disk('sdc', { serial: 'C' })
    await host.mounts({ [await host.partition('vdb', 'vdb1')]: '/' })
    expect(printed('look_around; list_disks')).toEqual([
      [
        'a sdc 1000 \ns C',
        `a vda 1000 \nj ${PLACE}`,
        'a vdb 1000 \nj pci-0000:00:05.0\nq the running system is on vdb1',
      ].join('\n'),
    ])
  })
})

test('a place comes with the size of its disk, or without', () => {
  expect(diskSelector(`/dev/disk/by-path/${PLACE}`)).toEqual(atPlace())
  expect(diskSelector(`/dev/disk/by-path/${PLACE}`, '20GiB')).toEqual({ ...atPlace(), size: 20 * 2 ** 30 })
  for (const [device, size, why] of [
    [`/dev/disk/by-path/${PLACE}-part1`, undefined, 'is a partition'],
    ['/dev/disk/by-path/', undefined, 'is not the place of a disk'],
    ['/dev/disk/by-path/../../vda', undefined, 'is not the place of a disk'],
    ['/dev/disk/by-path/a b', undefined, 'is not the place of a disk'],
    ['/dev/disk/by-path/$(reboot)', undefined, 'is not the place of a disk'],
    [`/dev/disk/by-path/${PLACE}`, 'S1', 'is not the size of a disk'],
    [`/dev/disk/by-path/${PLACE}`, '', 'is not the size of a disk'],
  ] as const)
    expect(() => diskSelector(device, size), device).toThrow(why)
})
