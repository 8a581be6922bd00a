import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../../base/runtime/index.js'
import { describedDisk } from './described-disk.js'
import { buildGpt, gptSectorSize, NotAGpt, parseGpt, readGpt } from './gpt.js'
import { writeFreshGpt } from './fresh-gpt.js'

const MIB = 1024 * 1024
const LINUX = '0fc63daf-8483-4772-8e79-3d69d8477de4'
const guid = fc.uuid()

const partitions = fc.uniqueArray(
  fc.record({
    number: fc.integer({ min: 1, max: 128 }),
    type: fc.constant(LINUX),
    guid,
    name: fc.stringMatching(/^[ -~]{0,36}$/),
    firstLba: fc.integer({ min: 34, max: 1000 }),
    lastLba: fc.integer({ min: 1000, max: 4000 }),
    attributes: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  }),
  { selector: ({ number }) => number, maxLength: 16 },
)

test.each([512, 4096] as const)('a table with %i-byte sectors reads back as it was built', (sectorSize) => {
  fc.assert(
    fc.property(partitions, guid, (wanted, diskGuid) => {
      const { primary } = buildGpt({ size: 64 * MIB, sectorSize, diskGuid, partitions: wanted })
      const gpt = parseGpt(primary, sectorSize)
      expect(gpt.diskGuid).toBe(diskGuid)
      expect(gpt.partitions).toEqual(
        [...wanted]
          .sort((a, b) => a.number - b.number)
          .map((partition) => ({
            ...partition,
            offset: partition.firstLba * sectorSize,
            length: (partition.lastLba - partition.firstLba + 1) * sectorSize,
          })),
      )
    }),
    { numRuns: 40 },
  )
})

test('a table with one changed bit in header or entries is refused', () => {
  const { primary } = buildGpt({
    size: 64 * MIB,
    sectorSize: 512,
    diskGuid: '00000000-0000-4000-a000-000000000001',
    partitions: [{ number: 3, type: LINUX, guid: LINUX, name: 'boot', firstLba: 2048, lastLba: 4095 }],
  })
  fc.assert(
    fc.property(fc.integer({ min: 512 * 8, max: (512 + 92) * 8 - 1 }), (bit) => {
      const damaged = Buffer.from(primary)
      damaged[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => parseGpt(damaged, 512)).toThrow(NotAGpt)
    }),
  )
  const damaged = Buffer.from(primary)
  damaged[1024 + 256 + 60]! ^= 1
  expect(() => parseGpt(damaged, 512)).toThrow('the GPT entries do not match their checksum')
})

test.each([
  // Recorded: sgdisk of a 512 MiB disk after coreos-installer's reset.
  { sectorSize: 512, size: 512 * MIB, first: 34, last: 1048542 },
  { sectorSize: 4096, size: 512 * MIB, first: 6, last: 131066 },
])('an empty table leaves sectors $first to $last usable', async ({ sectorSize, size, first, last }) => {
  const disk = describedDisk({ name: 'sda', size, sectorSize })
  await disk.write(0, Buffer.alloc(440, 'x'))
  await writeFreshGpt(disk, seededRandom(3))

  const gpt = await readGpt(disk)
  expect(gpt).toMatchObject({ firstUsableLba: first, lastUsableLba: last, partitions: [] })
  // The boot code is gone, the protective entry covers the disk.
  const mbr = Buffer.from(await disk.read(0, 512))
  expect(mbr.subarray(0, 446).every((byte) => byte === 0)).toBe(true)
  expect([mbr[450], mbr.readUInt32LE(454), mbr.readUInt32LE(458)]).toEqual([0xee, 1, size / sectorSize - 1])
  // As recorded, the version digit is where raw UUID bytes put it.
  expect(gpt!.diskGuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{2}4[0-9a-f]-[89ab]/)
  const backup = Buffer.from(await disk.read(size - sectorSize, sectorSize))
  expect(backup.toString('latin1', 0, 8)).toBe('EFI PART')
})

test('the sector size of an image is found by the position of its header', () => {
  const at = (offset: number) => {
    const bytes = Buffer.alloc(8192)
    bytes.write('EFI PART', offset, 'latin1')
    return bytes
  }
  expect(gptSectorSize(at(512))).toBe(512)
  expect(gptSectorSize(at(4096))).toBe(4096)
  expect(gptSectorSize(Buffer.alloc(8192))).toBeUndefined()
})
