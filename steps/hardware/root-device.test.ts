import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { StepError } from '../sdk/step.js'
import type { BlockDevice } from './block-devices.js'
import { chooseRootDevice } from './root-device.js'
import { compileHints } from './find-by-hints.js'

const GIB = 2 ** 30
const HINTS =
  'size, model, wwn, serial, vendor, wwn_with_extension, wwn_vendor_extension, name, rotational, hctl, by_path, tran'
const disk = (name: string, more: Partial<BlockDevice> = {}): BlockDevice => ({
  name: `/dev/${name}`,
  type: 'disk',
  model: 'QEMU HARDDISK',
  size: 20 * GIB,
  rotational: false,
  wwn: '0x5000c500a0000001',
  serial: 'PEERS0001',
  vendor: 'ATA',
  wwnWithExtension: '0x5000c500a0000001ext',
  wwnVendorExtension: null,
  hctl: '0:0:0:0',
  byPath: '/dev/disk/by-path/pci-0000:00:1f.2-ata-1',
  logicalSectors: 512,
  physicalSectors: 4096,
  transport: 'sata',
  serials: ['PEERS0001', 'QEMU_HARDDISK_PEERS0001'],
  wwns: ['0x5000c500a0000001'],
  ...more,
})

describe('hints of one disk', () => {
  test.each<[string, unknown, boolean]>([
    ['size', 20, true],
    ['size', '>=20', true],
    ['size', '<range-in> [ 20 30 ]', true],
    ['model', 'qemu harddisk', true],
    ['model', 's== QEMU%20HARDDISK', false],
    ['serial', 'peers0001', true],
    ['serial', 's== qemu_harddisk_peers0001', true],
    ['serial', 's!= qemu_harddisk_peers0001', true],
    ['serial', 'other', false],
    ['wwn', '0x5000C500A0000001', true],
    ['wwn_with_extension', '0x5000c500a0000001ext', true],
    ['wwn_vendor_extension', 'none', true],
    ['hctl', '0:0:0:0', true],
    ['by_path', '<in> ata-1', true],
    ['name', '/dev/sda', true],
    ['vendor', 's!= ata', false],
    ['tran', 'sata', true],
    ['rotational', 'no', true],
  ])('the hint %s with %j matches: %j', (hint, value, expected) => {
    expect(compileHints({ [hint]: value })(disk('sda'))).toBe(expected)
  })

  test('with its own values find a disk', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9][\w.-]{0,11}$/)
    fc.assert(
      fc.property(word, (serial) => {
        expect(compileHints({ serial: `s== ${serial}` })(disk('sda', { serials: [serial] }))).toBe(true)
        expect(compileHints({ serial: `s!= ${serial}` })(disk('sda', { serials: [serial] }))).toBe(false)
      }),
    )
  })
})

describe('the root device', () => {
  const disks = [
    disk('sdc', { size: 3 * GIB, serials: ['C'] }),
    disk('sdb', { size: 50 * GIB, serials: ['B'], rotational: true }),
    disk('sda', { size: 20 * GIB, serials: ['A'] }),
    disk('sdd', { size: 20 * GIB, serials: ['D'] }),
  ]
  test.each<[string, Record<string, unknown>, string]>([
    ['without hints is the smallest of at least 4 GiB, by name among equals', {}, '/dev/sda'],
    ['with hints is the first that satisfies all', { properties: { root_device: { size: '>= 20' } } }, '/dev/sdb'],
    [
      'is what the instance wants before what the machine says',
      { properties: { root_device: { serial: 'B' } }, instance_info: { root_device: { serial: 'D' } } },
      '/dev/sdd',
    ],
    [
      'is not looked for with empty hints',
      { properties: { root_device: { serial: 'B' } }, instance_info: { root_device: {} } },
      '/dev/sdb',
    ],
  ])('%s', (_, node, name) => {
    expect(chooseRootDevice(disks, node).name).toBe(name)
  })

  test.each<[BlockDevice[], Record<string, unknown>, string]>([
    [
      disks,
      { instance_info: { root_device: { serial: 'nosuch' } } },
      "No suitable device was found for deployment using these hints {'serial': 'nosuch'}",
    ],
    [
      disks.slice(0, 1),
      {},
      'No suitable device was found for deployment - root device hints were not provided and all found block devices are smaller than 4294967296B.',
    ],
    [
      disks,
      { properties: { root_device: { colour: 'red' } } },
      `No devices could be found using the root device hints {'colour': 'red'} because they failed to validate. Error: The hints "colour" are invalid. Valid hints are: "${HINTS}"`,
    ],
  ])('is not found: %#', (devices, node, details) => {
    const find = () => chooseRootDevice(devices, node)
    expect(find).toThrow(StepError)
    expect(find).toThrow(expect.objectContaining({ type: 'DeviceNotFound', details }))
  })
})
