import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { withClockHeld, makeFolder, UserError } from '../../base/runtime/index.js'
import { type ByteSource, openFileSource, readIso9660, sha256OfParts, streamSource } from '../../base/bytes/index.js'
import { pxeFiles } from '../live/pxe-files.js'
import { isFile, refuseOther, type CopyOptions } from './copy-iso.js'
import { stampOf, storedIsos, type StoredIso } from './image-content.js'
import { writeWhole } from './whole-file.js'
import { ERRORS } from '../errors.js'

/** Name endings of the files that a network boot needs from an ISO. */
export const PXE_FILES = ['vmlinuz', 'initrd.img', 'rootfs.img'] as const

/**
 * Extracts kernel, initramfs and root filesystem of each live ISO, and writes the ISO's digest beside them. Files that
 * are already there from the same ISO are skipped.
 *
 * @throws UserError `machine-os-digest`, `machine-os-pxe`
 */
export async function copyPxe(options: CopyOptions & { initrdOnly?: boolean }): Promise<void> {
  const { source, destination, clock, initrdOnly = false, onFile } = options
  const isos = await storedIsos(source, clock)
  await withClockHeld(clock, `making ${destination}`, () => makeFolder(destination))
  for (const iso of isos) {
    const base = join(destination, iso.name)
    const stamp = `${base}.pxe.sha256`
    const wanted = initrdOnly ? (['initrd.img'] as const) : PXE_FILES
    const there = await Promise.all(wanted.map((name) => isFile(`${base}-${name}`, clock)))
    if ((await stampOf(stamp, clock)) === iso.sha256 && there.every(Boolean)) {
      for (const name of wanted) onFile?.(`${base}-${name}`, 'up to date')
      continue
    }
    await using file = await openFileSource(iso.path, clock)
    const contents = await networkBootFiles(iso, file, wanted)
    const files = [...contents].map(([name, parts]) => ({ path: `${base}-${name}`, parts }))
    const others = PXE_FILES.filter((name) => !contents.has(name)).map((name) => `${base}-${name}`)
    await writeWhole(files, clock, async () => {
      for (const path of [stamp, ...others])
        await withClockHeld(clock, `removing ${path}`, () => rm(path, { force: true }))
    })
    for (const { path } of files) onFile?.(path, 'written')
    await withClockHeld(clock, `writing ${stamp}`, () => writeFile(stamp, iso.sha256))
  }
}

/**
 * The wanted files of an ISO, by name.
 *
 * @throws UserError `machine-os-digest`, `machine-os-pxe`
 */
async function networkBootFiles(
  iso: StoredIso,
  file: ByteSource,
  wanted: readonly string[],
): Promise<Map<string, () => AsyncIterable<Uint8Array>>> {
  refuseOther(iso, await sha256OfParts(streamSource(file)))
  const files = await pxeFiles(await readIso9660(file))
  const found = new Map<string, () => AsyncIterable<Uint8Array>>()
  for (const name of wanted) {
    const contents = files.find((each) => each.name === name)?.contents
    if (!contents)
      throw new UserError('machine-os-pxe', `${iso.path} has no ${name} for a network boot`, {
        remedy: ERRORS['machine-os-pxe'].remedy,
      })
    const isPacked = name === 'vmlinuz' && iso.architecture === 'aarch64' && (await isGzip(contents))
    found.set(name, () => (isPacked ? unpackKernel(contents) : streamSource(contents)))
  }
  return found
}

/** Decompresses a kernel. Firmware of Arm machines boots no compressed kernel (https://github.com/coreos/fedora-coreos-tracker/issues/1019). */
export async function* unpackKernel(source: ByteSource): AsyncGenerator<Uint8Array, void, undefined> {
  const gunzip = createGunzip()
  const fed = pipeline(Readable.from(streamSource(source)), gunzip)
  fed.catch(() => {})
  yield* gunzip as AsyncIterable<Uint8Array>
  await fed
}

export const isGzip = async (source: ByteSource): Promise<boolean> => {
  const [first, second] = await source.read(0, 2)
  return first === 0x1f && second === 0x8b
}
