import { crc32, gzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import lzma from 'lzma-native'
import { beforeAll, describe, expect, test } from 'vitest'
import { errorChain, seededRandom, systemClock } from '../../runtime/index.js'
import { countReads, memoryStream } from '../byte-stream.js'
import { decompress, detectCompression } from './decompress.js'
import { zstdFrame } from './zstd-frame.js'
import { loadZstd } from './zstd-writer.js'

const plain = Buffer.concat([
  Buffer.alloc(300_000),
  Buffer.from(Buffer.from(seededRandom(1).bytes(60_000)).toString('base64')),
  Buffer.alloc(1_000_000, 'CoreOS '),
])
const zstd = readFileSync(new URL('../../../test/fixtures/coreos-installer/coreos-metal.raw.zst', import.meta.url))
const clock = systemClock()

async function all(bytes: Uint8Array, pieces?: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of decompress(memoryStream(bytes, pieces), clock)) parts.push(part)
  return Buffer.concat(parts)
}

let compressed: Record<'gz' | 'xz' | 'zst', { bytes: Buffer; plain: Buffer }>
beforeAll(async () => {
  const xz = await new Promise<Buffer>((resolve) => lzma.compress(plain, { preset: 1 }, resolve))
  compressed = {
    gz: { bytes: gzipSync(plain), plain },
    xz: { bytes: xz, plain },
    zst: { bytes: zstd, plain: await all(zstd) },
  }
})

describe.each(['gz', 'xz', 'zst'] as const)('decompressing %s', (format) => {
  test.each([1000, 7777, undefined])('comes out as it went in, read %s bytes at a time', async (pieces) => {
    const { bytes, plain } = compressed[format]
    expect(detectCompression(bytes)).toBe(format)
    expect((await all(bytes, pieces)).equals(plain)).toBe(true)
  })

  test('a stream that ends too soon is refused, wherever it ends', async () => {
    const { bytes } = compressed[format]
    const sentence = {
      gz: /unexpected end of file|incomplete deflate stream/,
      xz: 'xz compressed stream is truncated or otherwise corrupt',
      zst: 'premature EOF reading zstd frame',
    }[format]
    for (const left of [bytes.length - 1, bytes.length - 9, bytes.length >> 1, 12])
      await expect(all(bytes.subarray(0, left))).rejects.toThrow(sentence)
  })

  test('trailing bytes are refused', async () => {
    const { bytes } = compressed[format]
    await expect(all(Buffer.concat([bytes, Buffer.from('junk')]))).rejects.toThrow(
      'found trailing data after compressed stream',
    )
  })

  test('damage in the middle is noticed', async () => {
    const bytes = Buffer.from(compressed[format].bytes)
    bytes.fill(0x55, bytes.length >> 1, (bytes.length >> 1) + 32)
    await expect(all(bytes)).rejects.toThrow()
  })

  test('after the end the source is called again as often as coreos-installer asks', async () => {
    const { bytes } = compressed[format]
    const positions: number[] = []
    const source = countReads(memoryStream(bytes), (position) => positions.push(position))
    for await (const part of decompress(source, clock)) void part
    const atEnd = positions.filter((position) => position === bytes.length)
    expect(atEnd.length).toBe(format === 'gz' ? 2 : 3)
  })
})

test('one gzip member or xz stream only; zstd frames may follow each other', async () => {
  const twice = (format: 'gz' | 'xz' | 'zst') => Buffer.concat([compressed[format].bytes, compressed[format].bytes])
  await expect(all(twice('gz'))).rejects.toThrow('trailing data')
  await expect(all(twice('xz'))).rejects.toThrow('trailing data')
  expect((await all(twice('zst'))).length).toBe(2 * compressed.zst.plain.length)
})

test('a gzip header with name, comment and extra field is skipped', async () => {
  const bytes = gzipSync(plain)
  const header = Buffer.from(bytes.subarray(0, 10))
  header[3] = 4 | 8 | 16
  const fields = Buffer.concat([Buffer.from([3, 0, 1, 2, 3]), Buffer.from('image.raw\0'), Buffer.from('a comment\0')])
  expect((await all(Buffer.concat([header, fields, bytes.subarray(10)]), 40)).equals(plain)).toBe(true)
})

test('what has no magic is raw', async () => {
  expect(await all(Buffer.from('hello'))).toEqual(Buffer.from('hello'))
})

test.each([
  ['window', '28b52ffd00a00200100000'],
  ['contents', '28b52ffde0000000000100000002001000'],
])('a zstd frame whose %s ask for a GiB is refused before it is given memory', async (_, hex) => {
  await expect(all(Buffer.from(hex, 'hex'))).rejects.toThrow('Frame requires too much memory for decoding')
})

describe('zstd frames that are decompressed at once', () => {
  const frameOf = async (contents: Uint8Array) => Buffer.from((await loadZstd()).compress(contents))

  test.each([1000, 7777, undefined])('come out as they went in, read %s bytes at a time', async (pieces) => {
    const frame = await frameOf(plain)
    expect(zstdFrame(frame)).toMatchObject({ contentSize: plain.length })
    const three = Buffer.concat([frame, await frameOf(plain.subarray(0, 1000)), frame])
    const contents = Buffer.concat([plain, plain.subarray(0, 1000), plain])
    expect((await all(three, pieces)).equals(contents)).toBe(true)
  })

  test('give what is before the damage, or before their end', async () => {
    const frame = await frameOf(plain)
    // The third block is of a type that there is not.
    const damaged = Buffer.from(frame)
    let third = zstdFrame(frame)!.headerLength
    for (let block = 0; block < 2; block++) {
      const header = frame.readUIntLE(third, 3)
      // A run of one byte, or so many bytes.
      third += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3)
    }
    damaged[third]! |= 6
    for (const [bytes, sentence] of [
      [damaged, 'Data corruption detected'],
      [frame.subarray(0, -1), 'premature EOF reading zstd frame'],
      [frame.subarray(0, frame.length >> 1), 'premature EOF reading zstd frame'],
    ] as const) {
      const parts: Uint8Array[] = [plain.subarray(0, 0)]
      const work = (async () => {
        for await (const part of decompress(memoryStream(Buffer.concat([frame, bytes])), clock)) parts.push(part)
      })()
      await expect(work).rejects.toThrow(sentence)
      const came = Buffer.concat(parts)
      expect(came.length).toBeGreaterThan(plain.length)
      expect(came.length).toBeLessThan(2 * plain.length)
      // As far as a decoder that goes block by block: those before the damage are right.
      const right = Math.min(came.length, plain.length + 128 * 1024)
      expect(came.subarray(0, right).equals(Buffer.concat([plain, plain]).subarray(0, right))).toBe(true)
    }
  })
})

/** 256 KiB of zeros: a compressed block and a run, as `zstd --check` writes them. */
const ZEROS = '28b52ffda4000004005400001000000100fbff39c0020300100040270fa6'

test.each([
  ['another checksum', ZEROS.replace(/a6$/, 'a7'), "Restored data doesn't match checksum"],
  ['a run longer than a block may be', ZEROS.replace('030010', '030050'), 'Destination buffer is too small'],
  ['a block longer than one may be', ZEROS.replace('030010', '050050'), 'Data corruption detected'],
  ['a block of no type', ZEROS.replace('030010', '070010'), 'Data corruption detected'],
])('a zstd frame with %s fails in the words of zstd', async (_, hex, sentence) => {
  expect(await all(Buffer.from(ZEROS, 'hex'))).toEqual(Buffer.alloc(256 * 1024))
  await expect(all(Buffer.from(hex, 'hex'))).rejects.toThrow(sentence)
})

// Each was given to zstd 1.5.4, whose words these are.
test.each([
  ['a first block that uses a tree of one before', '0038350000031000000000', 'Dictionary is corrupted'],
  ['literals that are longer than their block', '00381d0000506162', 'Data corruption detected'],
  ['literals behind which nothing comes', '00381d0000106162', 'Src size is incorrect'],
  ['a block of one byte', '00380d000010', 'Data corruption detected'],
  ['a reserved bit in its header', '083825000010616200', 'Unsupported frame parameter'],
  ['a dictionary', '01380525000010616200', 'Dictionary mismatch'],
])('a zstd frame whose first block is spoiled, %s, fails in the words of zstd', async (_, hex, sentence) => {
  await expect(all(Buffer.from(`28b52ffd${hex}`, 'hex'))).rejects.toThrow(sentence)
})

test.each(['003825000010616200', '01380025000010616200'])('the zstd frame %s is good', async (hex) => {
  expect((await all(Buffer.from(`28b52ffd${hex}`, 'hex'))).toString()).toBe('ab')
})

test('an image in zstd whose contents are not those of its checksum is damaged, also where it is large', async () => {
  const other = Buffer.from(zstd)
  other[other.length - 1]! ^= 1
  await expect(all(other)).rejects.toThrow("Restored data doesn't match checksum")
})

test('the end of a zstd frame that is cut short is read once, as progress shows it', async () => {
  const cut = Buffer.from(ZEROS, 'hex').subarray(0, -2)
  let ends = 0
  const source = countReads(memoryStream(cut), (_, bytes) => void (ends += bytes === undefined ? 1 : 0))
  const work = (async () => {
    for await (const _ of decompress(source, clock));
  })()
  await expect(work).rejects.toThrow('premature EOF reading zstd frame')
  expect(ends).toBe(1)
})

test('a zstd block larger than its frame is damage, without an error of JavaScript as the cause', async () => {
  const frame = Buffer.from(`28b52ffd2004510000${'61'.repeat(10)}`, 'hex')
  const error: unknown = await all(frame).catch((thrown: unknown) => thrown)
  expect(errorChain(error)).toEqual(['Data corruption detected'])
})

test('a zstd frame that holds more than it says is damage, and is not decompressed to its end', async () => {
  const blocks = Array.from({ length: 1000 }, (_, n) => (n === 999 ? '03001061' : '02001061'))
  const frame = Buffer.from(`28b52ffda000000400${blocks.join('')}`, 'hex')
  expect(zstdFrame(frame)).toMatchObject({ contentSize: 256 * 1024 })
  const { decompress: whole } = await loadZstd()
  expect(() => whole(frame, 256 * 1024)).toThrow()
  const error: unknown = await all(frame).catch((thrown: unknown) => thrown)
  expect(errorChain(error)).toEqual(['Data corruption detected'])
})

test('the contents of a skippable zstd frame of 4 GiB are not buffered', async () => {
  const frame = Buffer.from('502a4d18ffffffff', 'hex')
  await expect(all(Buffer.concat([frame, Buffer.alloc(100_000)]))).rejects.toThrow('premature EOF')
})

test('an xz stream that asks for a dictionary of 4 GiB is refused', async () => {
  const bytes = Buffer.from(compressed.xz.bytes)
  bytes[16] = 40
  bytes.writeUInt32LE(crc32(bytes.subarray(12, 20)), 20)
  await expect(all(bytes)).rejects.toThrow('memory limit reached')
})
