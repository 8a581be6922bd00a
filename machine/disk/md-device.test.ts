import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describedDisk } from './described-disk.js'
import { mdDevice, mdSize, isRunnable } from './md-device.js'
import { buildMdSuperblock, parseMdSuperblock, type MdSuperblock, type MdLevel } from './md-superblock.js'

const CHUNK = 4096
const MEMBER = 16 * CHUNK

function array(level: MdLevel, count: number) {
  const disks = Array.from({ length: count }, (_, index) =>
    describedDisk({ name: `d${index}`, size: MEMBER + CHUNK, sectorSize: 512 }),
  )
  const open = (missing?: number) =>
    mdDevice({
      name: 'md0',
      level,
      chunk: CHUNK,
      memberSize: MEMBER,
      sectorSize: 512,
      members: disks.map((device, role) => (role === missing ? undefined : { device, offset: CHUNK })),
    })
  return { disks, open }
}

const LEVELS: [level: MdLevel, count: number, survives: boolean][] = [
  [0, 3, false],
  [1, 2, true],
  [5, 3, true],
  [5, 4, true],
  [6, 4, true],
  [6, 5, true],
  [10, 4, true],
]

describe.each(LEVELS)('RAID %i over %i members', (level, count, survives) => {
  test('reads written bytes back, also without one of its members', async () => {
    const size = mdSize(level, count, MEMBER)
    const write = fc.record({
      offset: fc.nat(size - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 3 * CHUNK }),
      discard: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 6 }), fc.nat(count - 1), async (writes, missing) => {
        const { open } = array(level, count)
        const expected = Buffer.alloc(size)
        for (const { offset, bytes, discard } of writes) {
          const fitting = bytes.subarray(0, size - offset)
          if (discard) await open().discard(offset, fitting.length * 3)
          else await open().write(offset, fitting)
          if (discard) expected.fill(0, offset, Math.min(size, offset + fitting.length * 3))
          else expected.set(fitting, offset)
        }
        expect(expected.equals(await open().read(0, size))).toBe(true)
        if (survives) expect(expected.equals(await open(missing).read(0, size))).toBe(true)
      }),
      { numRuns: 25 },
    )
  })

  test('is not started when too many members are missing', () => {
    const present = array(level, count).disks.map((device) => ({ device, offset: 0 }))
    expect(isRunnable({ level, members: present })).toBe(true)
    expect(isRunnable({ level, members: [undefined, ...present.slice(1)] })).toBe(survives)
    const twoMissing = [undefined, undefined, ...present.slice(2)]
    expect(isRunnable({ level, members: twoMissing })).toBe(level === 1 && count > 2)
    expect(isRunnable({ level, members: present.map(() => undefined) })).toBe(false)
  })

  test('refuses writes past its end with ENOSPC', async () => {
    const size = mdSize(level, count, MEMBER)
    await expect(
      array(level, count)
        .open()
        .write(size - 1, Buffer.from('ab')),
    ).rejects.toMatchObject({ code: 'ENOSPC' })
  })
})

test('a degraded parity array can be written, and is read without the outdated member', async () => {
  const { open } = array(5, 3)
  await open().write(0, Buffer.alloc(8 * CHUNK, 1))
  await open(1).write(0, Buffer.alloc(8 * CHUNK, 2))
  expect(await open(1).read(0, 8 * CHUNK)).toEqual(Buffer.alloc(8 * CHUNK, 2))
})

test('a superblock reads back as written, and is refused with a wrong byte', () => {
  const superblock: MdSuperblock = {
    arrayUuid: '3aaa012229827cfa5331ad66ca767371',
    name: 'host:os',
    level: 5,
    layout: 2,
    chunk: 512 * 1024,
    members: 3,
    memberSize: 10 * 2 ** 30,
    dataOffset: 2 ** 20,
    deviceUuid: '00112233445566778899aabbccddeeff',
    role: 2,
    created: 1_800_000_000_000,
    events: 1,
  }
  const bytes = buildMdSuperblock(superblock, 11 * 2 ** 30)
  expect(parseMdSuperblock(bytes)).toEqual(superblock)
  bytes[33]! ^= 1
  expect(parseMdSuperblock(bytes)).toBeUndefined()
  expect(parseMdSuperblock(Buffer.alloc(1024))).toBeUndefined()
})
