import { describe, expect, test } from 'vitest'
import type { InventoryDisk } from '../../../base/wire/index.js'
import { diskIn, disksFor } from './node-disks.js'

/** A virtio disk, which has neither a serial number nor a WWN. */
const virtio = (name: string, slot: number, size = 60 * 2 ** 30) =>
  ({
    name: `/dev/${name}`,
    size,
    serial: null,
    wwn: null,
    by_path: `/dev/disk/by-path/pci-0000:00:0${slot}.0`,
  }) as InventoryDisk

const first = virtio('vda', 4)
const second = virtio('vdb', 5)
const host = (disk: object) => ({ name: 'a', disk })

describe('disks without serial numbers', () => {
  test('are found by their place, with the size if it is given', () => {
    expect(diskIn([first, second], host({ 'by-path': 'pci-0000:00:05.0' }))).toBe(second)
    expect(diskIn([first, second], host({ 'by-path': second.by_path!, size: '60GiB' }))).toBe(second)
    expect(() => diskIn([first, second], host({ 'by-path': 'pci-0000:00:05.0', size: '61GiB' }))).toThrow(
      'a has no disk pci-0000:00:05.0',
    )
    expect(() => diskIn([first, second], host({ 'by-path': 'pci-0000:00:06.0' }))).toThrow(
      expect.objectContaining({ remedy: expect.stringContaining(`/dev/vda (${first.by_path})`) }),
    )
  })

  test('are known to an Ironic by their place: the one with its size, and the others to be left alone', () => {
    expect(disksFor([first, second], second)).toEqual({
      root: { by_path: second.by_path, size: 60 },
      skip: [{ by_path: first.by_path }],
    })
  })

  test('stop cleaning where another one has no place either', () => {
    const nameless = { ...first, by_path: null }
    expect(disksFor([nameless, second], second)).toEqual({ root: { by_path: second.by_path, size: 60 }, skip: null })
    expect(disksFor([nameless, second], nameless).root).toEqual({ name: '/dev/vda' })
  })
})
