import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { liveInitramfs } from '../../test/kit/images/live-iso.js'
import { systemClock } from '../../base/runtime/index.js'
import { keyfilesIn } from './contents.js'
import { makeCpio } from '../../base/bytes/archives/cpio.js'
import { readInitramfs, wrapFiles, type InitramfsLimits } from './initramfs.js'
import { compressXz } from '../../base/bytes/compression/xz-writer.js'
import { failureText } from '../installer-failure.js'
import { FormatError } from '../../base/bytes/format-error.js'

const clock = systemClock()
const archive = (path: string, text: string) => makeCpio([{ path, bytes: Buffer.from(text) }])
const texts = async (image: Uint8Array, limits?: InitramfsLimits) =>
  Object.fromEntries(
    [...(await readInitramfs(image, clock, undefined, limits))].map(([path, bytes]) => [
      path,
      Buffer.from(bytes).toString(),
    ]),
  )
const failure = (image: Uint8Array, limits?: InitramfsLimits) => texts(image, limits).then(() => 'none', failureText)

/** A zstd frame (RFC 8878) of stored blocks. */
function zstd(bytes: Uint8Array): Buffer {
  const head = Buffer.from('28b52ffda000000000', 'hex')
  head.writeUInt32LE(bytes.length, 5)
  const largest = 2 ** 17
  const blocks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += largest) {
    const block = bytes.subarray(at, at + largest)
    const length = Buffer.alloc(3)
    length.writeUIntLE((block.length << 3) | Number(at + largest >= bytes.length), 0, 3)
    blocks.push(length, block)
  }
  return Buffer.concat([head, ...blocks])
}

test('a wrapped config is the archive that coreos-installer writes, in xz', async () => {
  const config = Buffer.from('{"ignition":{"version":"3.4.0"},"passwd":{}}')
  const wrapped = await wrapFiles(new Map([['config.ign', config]]), clock)
  // Recorded from coreos-installer 0.27.0: `pxe ignition wrap < a.ign | sha256sum`.
  expect(createHash('sha256').update(wrapped).digest('hex')).toBe(
    '2d34031ba054f5b4408722628726be03021233d82d621654b41226cb410c5be2',
  )
  // Header of an xz stream with the check CRC32.
  expect(wrapped.subarray(0, 12).toString('hex')).toBe('fd377a585a0000016922de36')
  expect(makeCpio([{ path: 'config.ign', bytes: config }]).toString('latin1', 0, 110)).toBe(
    '070701' +
      '00000000' +
      '00008180' +
      '0000000000000000' +
      '00000001' +
      '00000000' +
      '0000002c' +
      '0'.repeat(32) +
      '0000000b' +
      '00000000',
  )
  expect(await texts(wrapped)).toEqual({ 'config.ign': config.toString() })
})

test('archives of every kind may follow each other, with zeros between; a later file replaces an earlier one', async () => {
  const image = Buffer.concat([
    liveInitramfs(null),
    gzipSync(archive('a', 'gzip')),
    Buffer.alloc(512),
    gzipSync(archive('b', 'gzip too')),
    gzipSync(archive('c', 'right behind')),
    await compressXz(archive('d/e', 'xz'), clock),
    await compressXz(archive('a', 'xz, later'), clock),
    Buffer.alloc(4),
    zstd(archive('f', 'zstd'.repeat(900))),
    archive('g', 'plain'),
    Buffer.alloc(100),
  ])
  expect(await texts(image)).toEqual({
    'etc/coreos-live-initramfs': '',
    'usr/lib/initrd-release': "OSTREE_VERSION='99'\n",
    a: 'xz, later',
    b: 'gzip too',
    c: 'right behind',
    'd/e': 'xz',
    f: 'zstd'.repeat(900),
    g: 'plain',
  })
})

test('other bytes are refused as coreos-installer refuses them', async () => {
  const wrapped = await compressXz(archive('a', 'b'.repeat(999)), clock)
  expect(await failure(Buffer.from('{"ignition":'.repeat(20)))).toContain(
    'reading CPIO entry\n\nCaused by:\n    Invalid magic number',
  )
  expect(await failure(wrapped.subarray(0, 60))).toContain('xz compressed stream is truncated or otherwise corrupt')
  expect(await failure(Buffer.from('\xfd7zXZ\0garbage and more', 'latin1'))).toContain('lzma data error')
  expect(await failure(liveInitramfs().subarray(0, 200))).toContain('failed to fill whole buffer')
  expect(await failure(gzipSync(Buffer.concat([archive('a', 'b'), Buffer.from('abc')])))).toBe(
    'Error: found trailing garbage inside compressed archive\n',
  )
  expect(await failure(gzipSync(archive('a', 'b')).subarray(0, 40))).toContain('incomplete deflate stream')
  expect(await failure(gzipSync(archive('a', 'b')).subarray(0, -3))).toBe(
    'Error: finishing reading compressed archive\n\nCaused by:\n    unexpected end of file\n',
  )
})

test('a decompression bomb is refused at the limit', async () => {
  const limits = { unpacked: 2 ** 18, selected: 2 ** 16 }
  const much = archive('zeros', '\0'.repeat(2 ** 19))
  for (const bomb of [gzipSync(much), await compressXz(much, clock), zstd(much)])
    expect(await failure(bomb, limits)).toContain('too large')
  const passed = await compressXz(makeCpio([{ path: 'other', bytes: Buffer.alloc(2 ** 19) }]), clock)
  await expect(readInitramfs(passed, clock, () => false, limits)).rejects.toThrow()
})

test.each(['../up', 'a/../../b', '/abs', 'a//b', 'a/./b', ''])(
  'a path that leads out of the folder is not written: %j',
  (path) => {
    expect(() => makeCpio([{ path, bytes: Buffer.alloc(0) }])).toThrow(FormatError)
  },
)

test.each(['..', '.', 'a/b', '../x', '../../etc/shadow', 'a\\b', ''])(
  'a keyfile of an archive is not extracted as %j',
  (name) => {
    const files = new Map([[`etc/coreos-firstboot-network/${name}`, Buffer.from('[connection]')]])
    expect(() => keyfilesIn(files)).toThrow('would be outside of the folder')
  },
)

test('wrapped files are read back', async () => {
  const name = fc.stringMatching(/^[a-z]{1,6}(\/[a-z]{1,6})?$/)
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, fc.uint8Array({ maxLength: 200 }), { minKeys: 1 }), async (files) => {
      const wrapped = new Map(Object.entries(files))
      const read = await readInitramfs(await wrapFiles(wrapped, clock), clock)
      for (const [path, bytes] of wrapped) expect(Buffer.from(read.get(path)!)).toEqual(Buffer.from(bytes))
      expect(read.size).toBe(wrapped.size)
    }),
    { numRuns: 25 },
  )
})

test('any bytes are read or refused with a LiveImageError', async () => {
  const starts = [
    liveInitramfs(),
    gzipSync(liveInitramfs()),
    await compressXz(liveInitramfs(), clock),
    zstd(liveInitramfs()),
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...starts),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
      fc.nat(),
      fc.uint8Array({ maxLength: 20 }),
      async (start, changes, cut, more) => {
        const bytes = Buffer.concat([start.subarray(0, start.length - (cut % 30)), more])
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        await readInitramfs(bytes, clock).catch((error: unknown) => expect(error).toBeInstanceOf(FormatError))
      },
    ),
    { numRuns: 200 },
  )
})
