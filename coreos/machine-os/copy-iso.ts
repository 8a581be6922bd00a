import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withClockHeld, makeFolder, UserError, type Clock } from '../../base/runtime/index.js'
import { openFileSource, overlaySource, sha256OfParts, streamSource } from '../../base/bytes/index.js'
import { editLiveKargs } from '../live/kargs-edit.js'
import { openLiveIso } from '../live/live-iso.js'
import { stampOf, storedIsos, type StoredIso } from './image-content.js'
import { writeWhole } from './whole-file.js'
import { ERRORS } from '../errors.js'

export interface CopyOptions {
  /** Folder of the shipped ISOs. */
  source: string
  /** Folder for the copies, created if necessary. */
  destination: string
  /** Kernel arguments to append for the live system. */
  kargs?: readonly string[]
  clock: Clock
  /** Called for each file that was written or was up to date. */
  onFile?: (path: string, what: 'written' | 'up to date') => void
}

/**
 * Copies each live ISO, unchanged or with more kernel arguments, and writes its published digest beside it. An ISO whose
 * digest is already there is skipped, so a restart copies nothing.
 *
 * @throws UserError `machine-os-digest` for an ISO that differs from its digest
 */
export async function copyIso(options: CopyOptions): Promise<void> {
  const { source, destination, clock } = options
  const isos = await storedIsos(source, clock)
  await withClockHeld(clock, `making ${destination}`, () => makeFolder(destination))
  for (const iso of isos) await copyOne(iso, options)
}

async function copyOne(iso: StoredIso, { destination, kargs = [], clock, onFile }: CopyOptions): Promise<void> {
  const target = join(destination, `${iso.name}.iso`)
  const stamp = `${target}.sha256`
  if ((await stampOf(stamp, clock)) === iso.sha256 && (await isFile(target, clock)))
    return onFile?.(target, 'up to date')
  // Without a digest an interrupted copy is made again. A copy that stands there keeps its own until a good one is ready.
  const removeStamp = () => withClockHeld(clock, `removing ${stamp}`, () => rm(stamp, { force: true }))
  await using file = await openFileSource(iso.path, clock)
  if (kargs.length === 0)
    await writeWhole([{ path: target, parts: () => streamSource(file) }], clock, async ([found = '']) => {
      refuseOther(iso, found)
      await removeStamp()
    })
  else {
    refuseOther(iso, await sha256OfParts(streamSource(file)))
    const { kargs: areas } = await openLiveIso(file, clock)
    if (!areas)
      throw new UserError('machine-os-kargs', `the kernel arguments of ${iso.path} cannot be changed`, {
        remedy: ERRORS['machine-os-kargs'].remedy,
      })
    const patches = areas.write(editLiveKargs(areas.current, { append: kargs }))
    const parts = () => streamSource(overlaySource(file, patches))
    await writeWhole([{ path: target, parts }], clock, removeStamp)
  }
  await withClockHeld(clock, `writing ${stamp}`, () => writeFile(stamp, iso.sha256))
  onFile?.(target, 'written')
}

/** @throws UserError `machine-os-digest` */
export function refuseOther({ path, sha256 }: StoredIso, found: string): void {
  if (found === sha256) return
  throw new UserError('machine-os-digest', `Invalid checksum of ${path}: expected=${sha256} found=${found}`, {
    remedy: 'build the image again: it differs from the published one',
  })
}

export const isFile = (path: string, clock: Clock): Promise<boolean> =>
  openFileSource(path, clock).then(
    (file) => file[Symbol.asyncDispose]().then(() => true),
    () => false,
  )
