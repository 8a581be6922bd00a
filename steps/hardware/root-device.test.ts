import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { StepError } from '../sdk.js'
import type { BlockDevice } from './block-devices.js'
import { chooseRootDevice } from './root-device.js'
import { compileHints } from './root-device-hints.js'

const GIB = 2 ** 30
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

describe('one hint against one disk', () => {
  const bare = disk('sda', { vendor: null, serials: [], wwns: [], serial: null, wwn: null })
  test.each<[string, unknown, boolean, BlockDevice?]>([
    ['size', 20, true],
    ['size', '20', true],
    ['size', '== 20', true],
    ['size', '!= 20', false],
    ['size', '>= 20', true],
    ['size', '= 19', true],
    ['size', '= 21', false],
    ['size', '> 20', false],
    ['size', '<= 20', true],
    ['size', '< 21', true],
    ['size', '<or> 10 <or> 20', true],
    ['size', '<range-in> [ 20 30 ]', true],
    ['size', '<range-in> ( 20 30 ]', false],
    ['size', 20, false, disk('sda', { size: 20.5 * GIB })],
    ['size', '>= 20', true, disk('sda', { size: 20.5 * GIB })],
    ['model', 'qemu harddisk', true],
    ['model', 's== QEMU%20HARDDISK', true],
    ['model', '<in> hard', true],
    ['model', '<in> ware', false],
    ['model', '<all-in> qemu disk', true],
    ['model', '<all-in> qemu tape', false],
    ['model', 's!= qemu harddisk', false],
    ['serial', 'peers0001', true],
    ['serial', 's== qemu_harddisk_peers0001', true],
    ['serial', '<or> other <or> PEERS0001', true],
    ['serial', '<or> other <or> another', false],
    ['serial', 's!= qemu_harddisk_peers0001', false],
    ['serial', 's!= other', true],
    ['wwn', '0x5000C500A0000001', true],
    ['wwn_with_extension', '0x5000c500a0000001ext', true],
    ['wwn_vendor_extension', '0x1', false],
    ['hctl', '0:0:0:0', true],
    ['hctl', 's> 0:0:0:0', false],
    ['hctl', 's>= 0:0:0:0', true],
    ['hctl', 's< 1:0:0:0', true],
    ['hctl', 's<= 0:0:0:0', true],
    ['by_path', '<in> ata-1', true],
    ['name', '/dev/sda', true],
    ['name', '/dev/sdb', false],
    ['tran', 'sata', true],
    ['rotational', false, true],
    ['rotational', 'no', true],
    ['rotational', 'True', false],
    ['vendor', 's!= ata', true, bare],
    ['vendor', 'none', false, bare],
    ['vendor', '<in> a', false, bare],
    ['serial', 'anything', false, bare],
  ])('%s: %j -> %j', (hint, value, expected, device = disk('sda')) => {
    expect(compileHints({ [hint]: value })(device)).toBe(expected)
  })

  test.each([
    [{ colour: 'red' }, 'the hint colour is not known'],
    [{ size: 'big' }, 'the hint size must be a positive whole number of GiB'],
    [{ size: 0 }, 'the hint size must be'],
    [{ size: '<in> 2' }, 'the hint size must be'],
    [{ size: '<range-in> 1 2' }, 'the hint size must be'],
    [{ rotational: 'perhaps' }, 'the hint rotational must be true or false'],
    [{ serial: 5 }, 'the hint serial must be text'],
    [{ model: ' ' }, 'the hint model must be text'],
  ])('%j is refused', (hints, sentence) => {
    expect(() => compileHints(hints)).toThrow(sentence)
  })

  test('what a disk says of itself finds it, whatever that is', () => {
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
      "The root device hints {'colour': 'red'} failed validation: the hint colour is not known",
    ],
  ])('is not found: %#', (devices, node, details) => {
    const find = () => chooseRootDevice(devices, node)
    expect(find).toThrow(StepError)
    expect(find).toThrow(expect.objectContaining({ type: 'DeviceNotFound', details }))
  })
})
