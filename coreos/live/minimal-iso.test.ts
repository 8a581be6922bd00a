import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { isoImage, liveFiles } from '../../test/kit/images/live-iso.js'
import { systemClock } from '../../base/runtime/index.js'
import { compressXz } from '../../base/bytes/compression/xz-writer.js'
import { bytesSource, streamSource, type ByteSource } from '../../base/bytes/byte-source.js'
import { openLiveIso } from './live-iso.js'
import { minimalIso } from './minimal-iso.js'
import { LiveImageError } from '../live-image-error.js'

const clock = systemClock()
const open = (image: ByteSource) => openLiveIso(image, clock)
const SECTOR = 2048

/** Numbers as bincode packs them. */
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(9)
  if (value <= 250) return Buffer.of(value)
  if (value < 2 ** 32) {
    bytes[0] = 252
    bytes.writeUInt32LE(value, 1)
    return bytes.subarray(0, 5)
  }
  bytes[0] = 253
  bytes.writeBigUInt64LE(BigInt(value), 1)
  return bytes
}

interface Packed {
  files: [minimal: number, full: number, length: number][]
  digest: Buffer
  gaps: Buffer
}

const packed = async ({ files, digest, gaps }: Packed): Promise<Buffer> => {
  const data = await compressXz(gaps, clock)
  const table = files.flat().map(number)
  return Buffer.concat([
    Buffer.from('MINISO\0\0'),
    number(1),
    number(4),
    Buffer.from('test'),
    number(files.length),
    ...table,
    digest,
    number(data.length),
    data,
  ])
}

const withData = (data: Buffer): Buffer => isoImage({ ...liveFiles(), 'coreos/miniso.dat': data })

const extract = async (image: Buffer): Promise<Buffer> => {
  const full = bytesSource(image)
  const minimal = await minimalIso(full, await open(full), { rootfsUrl: 'http://h/rootfs.img', clock, open })
  const parts: Uint8Array[] = []
  for await (const part of streamSource(minimal)) parts.push(part)
  return Buffer.concat(parts)
}

let table: Packed
let data: Buffer
beforeAll(async () => {
  const { 'images/pxeboot/rootfs.img': _, ...files } = liveFiles()
  const minimal = isoImage(files)
  const place = async (image: Buffer, path: string) => (await open(bytesSource(image))).filesystem.find(path)
  const full = withData(Buffer.alloc(SECTOR * 8))
  const shared: Packed['files'] = []
  const gaps: Buffer[] = []
  let at = 0
  for (const path of ['IMAGES/PXEBOOT/VMLINUZ', 'IMAGES/PXEBOOT/INITRD.IMG']) {
    const here = await place(minimal, path)
    const there = await place(full, path)
    shared.push([here.offset / SECTOR, there.offset / SECTOR, here.size])
    gaps.push(minimal.subarray(at, here.offset))
    at = here.offset + here.size
  }
  gaps.push(minimal.subarray(at))
  table = { files: shared, digest: createHash('sha256').update(minimal).digest(), gaps: Buffer.concat(gaps) }
  data = await packed(table)
})

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(SECTOR * 8 - bytes.length)])

test('the packed minimal ISO is extracted, with the root filesystem by URL', async () => {
  const minimal = await open(bytesSource(await extract(withData(padded(data)))))
  expect(minimal.kargs!.current).toMatch(/ coreos\.live\.rootfs_url=http:\/\/h\/rootfs\.img$/)
  expect(minimal.kargs!.current).not.toContain('coreos.liveiso')
  await expect(minimal.filesystem.find('IMAGES/PXEBOOT/ROOTFS.IMG')).rejects.toThrow('no record')
})

test.each<[string, () => Promise<Buffer> | Buffer, string]>([
  ['another digest', () => packed({ ...table, digest: Buffer.alloc(32) }), 'wrong final digest'],
  [
    'files beyond the image',
    () => packed({ ...table, files: [[table.files[0]![0], 2 ** 40, 9]] }),
    'not within the image',
  ],
  [
    'files over each other',
    () => packed({ ...table, files: [table.files[0]!, table.files[0]!] }),
    'does not fit its data',
  ],
  [
    'too many files',
    () => packed({ ...table, files: Array<never>(10_001).fill([0, 0, 0] as never) }),
    'more than 10000 files',
  ],
  [
    'one file again and again, as the bomb that it is',
    () => {
      const size = withData(Buffer.alloc(SECTOR * 8)).length
      const files = [0, 1, 2].map((number): [number, number, number] => [(number * size) / SECTOR, 0, size])
      return packed({ ...table, files })
    },
    'larger than the full one',
  ],
  ['no table', () => Buffer.from('MINISO\0\0'), 'failed to fill whole buffer'],
  ['another magic', () => Buffer.from('MAXISO\0\0'), 'not a miniso file!'],
])('%s is refused', async (_, make, sentence) => {
  const bytes = await make()
  const image = bytes.length > SECTOR * 8 ? withData(bytes) : withData(bytes.length < 20 ? bytes : padded(bytes))
  const error = await extract(image).then(
    () => undefined,
    (caught: unknown) => caught,
  )
  expect(error).toBeInstanceOf(LiveImageError)
  const chain = (thrown: unknown): string =>
    thrown instanceof Error ? `${thrown.message}: ${chain((thrown as Error & { cause?: unknown }).cause)}` : ''
  expect(chain(error)).toContain(sentence)
})

test('any bytes are read or refused with a LiveImageError', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      fc.option(fc.nat()),
      async (changes, cut) => {
        const bytes = Buffer.from(data)
        for (const [at, byte] of changes) bytes[at % Math.min(bytes.length, 120)] = byte
        const remaining = cut === null ? bytes : bytes.subarray(0, cut % bytes.length)
        await extract(withData(padded(remaining))).catch((error: unknown) =>
          expect(error).toBeInstanceOf(LiveImageError),
        )
      },
    ),
    { numRuns: 25 },
  )
})
