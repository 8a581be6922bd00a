import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoImage, LIVE_KARGS, liveFiles, type LiveFiles } from '../../test/kit/images/live-iso.js'
import { systemClock } from '../../base/runtime/index.js'
import { IGNITION_FILE, keyfileFiles } from './contents.js'
import { bytesSource, overlaySource, streamSource, type ByteSource, type Patch } from '../../base/bytes/byte-source.js'
import { openLiveIso } from './live-iso.js'
import { pxeFiles } from './pxe-files.js'
import { failureText } from '../installer-failure.js'
import { FormatError } from '../../base/bytes/format-error.js'

const clock = systemClock()
const open = (image: Buffer) => openLiveIso(bytesSource(image), clock)
const all = async (source: ByteSource): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  for await (const part of streamSource(source)) parts.push(part)
  return Buffer.concat(parts)
}
const patched = (image: Buffer, patches: Patch[]) => all(overlaySource(bytesSource(image), patches))
const failure = (image: Buffer): Promise<string> => open(image).then(() => 'no failure', failureText)
const config = Buffer.from('{"ignition":{"version":"3.4.0"}}\n')

test.each(['x86_64', 'aarch64', 'ppc64le', 's390x'] as const)(
  'on %s what is embedded is found again, and a reset gives back every byte',
  async (architecture) => {
    const image = isoImage(liveFiles(architecture))
    const before = await open(image)
    expect(before).toMatchObject({ customized: false, area: { size: 262144 }, kargs: { current: LIVE_KARGS } })
    const keyfiles = keyfileFiles([{ name: 'eth0.nmconnection', bytes: Buffer.from('[connection]\n') }])
    const changed = await patched(image, [
      await before.embed(new Map([...keyfiles, [IGNITION_FILE, config]])),
      ...before.kargs!.write('a=b'),
    ])
    expect(changed.length).toBe(image.length)
    const after = await open(changed)
    expect([...after.files.keys()].sort()).toEqual([IGNITION_FILE, 'etc/coreos-firstboot-network/eth0.nmconnection'])
    expect(Buffer.from(after.files.get(IGNITION_FILE)!).equals(config)).toBe(true)
    expect(after).toMatchObject({ customized: true, kargs: { current: 'a=b', default: LIVE_KARGS } })
    expect((await patched(changed, after.pristine())).equals(image)).toBe(true)
  },
)

test('kernel, initramfs and root filesystem are extracted unchanged', async () => {
  const files = liveFiles()
  const found = await pxeFiles((await open(isoImage(files))).filesystem)
  expect(found.map(({ name }) => name).sort()).toEqual(['initrd.img', 'rootfs.img', 'vmlinuz'])
  for (const { name, contents } of found)
    expect((await all(contents)).equals(files[`images/pxeboot/${name}`]!)).toBe(true)
})

test('files and arguments that do not fit are refused with both sizes', async () => {
  const iso = await open(isoImage({ ...liveFiles(), 'images/ignition.img': Buffer.alloc(100) }))
  await expect(iso.embed(new Map([[IGNITION_FILE, config]]))).rejects.toThrow(
    /^Compressed initramfs is too large: \d+ > 100$/,
  )
  expect(() => iso.kargs!.write('é'.repeat(569))).not.toThrow()
  expect(() => iso.kargs!.write('é'.repeat(570))).toThrow('kargs too large for area: 1141 vs 1139')
})

/** Errors in the real tool's words, where it has one. */
const damaged: [string, (files: LiveFiles) => LiveFiles, string][] = [
  [
    'no ignition area',
    ({ 'images/ignition.img': _, ...files }) => files,
    'Error: Unrecognized CoreOS ISO image.\n\nCaused by:\n    0: finding initrd embed area\n    1: no record for IGNITION.IMG in directory IMAGES\n',
  ],
  [
    'junk in the area',
    (files) => ({ ...files, 'images/ignition.img': Buffer.from('garbage'.padEnd(200)) }),
    'Error: Unrecognized CoreOS ISO image.\n\nCaused by:\n    0: decoding initrd embed area\n    1: reading CPIO entry\n    2: Invalid magic number\n',
  ],
  [
    'an area beyond its file',
    (files) => ({
      ...files,
      'coreos/igninfo.json': Buffer.from('{"file":"images/ignition.img","offset":262000,"length":10000}'),
    }),
    'initrd embed area is not within images/ignition.img: 272000 > 262144',
  ],
  [
    'kargs that differ',
    (files) => ({
      ...files,
      'isolinux/isolinux.cfg': Buffer.from(
        files['isolinux/isolinux.cfg']!.toString().replace('mitigations', 'Mitigations'),
      ),
    }),
    `Error: kargs don't match at all offsets! (expected '${LIVE_KARGS}'`,
  ],
  [
    'kargs areas that overlap',
    (files) => ({
      ...files,
      'coreos/kargs.json': Buffer.from(
        files['coreos/kargs.json']!.toString().replace(
          'isolinux/isolinux.cfg","offset":7',
          'EFI/fedora/grub.cfg","offset":30',
        ),
      ),
    }),
    'embed areas overlap',
  ],
  [
    'kargs areas that are too large',
    (files) => ({
      ...files,
      'coreos/kargs.json': Buffer.from(files['coreos/kargs.json']!.toString().replace('1139', '2049')),
    }),
    'Error: karg embed area size larger than 2048 (found 2049)\n',
  ],
  [
    'no kargs areas',
    (files) => ({ ...files, 'coreos/kargs.json': Buffer.from('{"default":"","size":5,"files":[]}') }),
    'Error: No karg embed areas found; corrupted CoreOS ISO image.\n',
  ],
  [
    'kargs beyond their file',
    (files) => ({
      ...files,
      'coreos/kargs.json': Buffer.from(files['coreos/kargs.json']!.toString().replace('"offset":7', '"offset":700')),
    }),
    'karg embed area is not within isolinux/isolinux.cfg: 1839 > 1147',
  ],
]

test.each(damaged)('an ISO with %s is refused', async (_, damage, sentence) => {
  expect(await failure(isoImage(damage(liveFiles())))).toContain(sentence)
})

test('a truncated ISO is refused', async () => {
  const image = isoImage(liveFiles())
  expect(await failure(image.subarray(0, 300_000))).toBe(
    'Error: parsing ISO9660 image\n\nCaused by:\n    ISO image is incomplete\n',
  )
  expect(await failure(Buffer.alloc(0))).toBe(
    'Error: parsing ISO9660 image\n\nCaused by:\n    0: getting volume descriptor #1\n' +
      '    1: reading volume descriptor\n    2: failed to fill whole buffer\n',
  )
  expect(await failure(Buffer.alloc(50_000))).toBe(
    'Error: parsing ISO9660 image\n\nCaused by:\n    0: getting volume descriptor #1\n' +
      '    1: parsing boot descriptor\n    2: unknown descriptor ID: b"\\0\\0\\0\\0\\0"\n',
  )
})

test('an image of 2020 has its kernel arguments in a header only', async () => {
  const { 'coreos/kargs.json': _, 'coreos/igninfo.json': __, ...files } = liveFiles()
  const image = isoImage({ ...files, 'coreos/defaults': Buffer.from(`defaults ${LIVE_KARGS}\n`.padEnd(1148, '#')) })
  const at = (text: string) => image.indexOf(`${text}${LIVE_KARGS}`) + text.length
  image.write('coreKarg', 32672)
  const numbers = [1139, at('defaults '), at('vmlinuz '), at('append ')]
  numbers.forEach((number, index) => image.writeBigUInt64LE(BigInt(number), 32680 + 8 * index))
  const iso = await open(image)
  expect(iso.kargs).toMatchObject({ default: LIVE_KARGS, current: LIVE_KARGS, size: 1139 })
  const changed = await open(await patched(image, iso.kargs!.write('x')))
  expect(changed.kargs).toMatchObject({ default: LIVE_KARGS, current: 'x' })
})

test('an image with any damage is read or refused with a LiveImageError', async () => {
  const image = isoImage(liveFiles('x86_64'))
  // Offsets of the structures; the other bytes are contents.
  const offset = fc.oneof(fc.integer({ min: 32768, max: 60_000 }), fc.nat(image.length - 1))
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ offset, byte: fc.nat(255) }), { minLength: 1, maxLength: 8 }),
      fc.option(fc.nat(image.length)),
      async (changes, length) => {
        const bytes = Buffer.from(image)
        for (const { offset, byte } of changes) bytes[offset] = byte
        await open(length === null ? bytes : bytes.subarray(0, length)).catch((error: unknown) =>
          expect(error).toBeInstanceOf(FormatError),
        )
      },
    ),
    { numRuns: 150 },
  )
})
