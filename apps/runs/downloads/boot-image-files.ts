import { writeFile } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { IGNITION_FILE, liveKernelArguments, openLiveIso, wrapFiles, type BootImage } from '../../../coreos/index.js'
import { openFileSource } from '../../../base/bytes/index.js'
import { withClockHeld, UserError } from '../../../base/runtime/index.js'
import { downloadArtifacts, type ArtifactDownloadOptions } from './downloads.js'
import { ERRORS } from '../errors.js'

export interface BootImageOptions extends ArtifactDownloadOptions {
  /** Config for the live system: embedded in an ISO, or in a separate archive for a network boot. */
  ignition?: Uint8Array
}

export interface GeneratedFiles {
  paths: string[]
  /** Kernel arguments that a network boot needs; null for other formats. */
  kargs: string | null
}

/**
 * Downloads and verifies the files of a boot image, and adds the Ignition config to them.
 *
 * @throws UserError as {@link downloadArtifacts} does; `boot-image-ignition` for a format that takes no config
 */
export async function generateBootImage(
  image: BootImage & { kind: 'files' },
  options: BootImageOptions,
): Promise<GeneratedFiles> {
  const { ignition, folder, clock } = options
  const live = image.format === 'iso' || image.format === 'pxe'
  if (ignition && !live)
    throw new UserError('boot-image-ignition', `an image of format ${image.format} takes no Ignition config`, {
      remedy: ERRORS['boot-image-ignition'].remedy,
      kind: 'usage',
    })
  const paths = (await downloadArtifacts(Object.values(image.files), options)).map(({ path }) => path)
  const [first] = paths
  if (image.format === 'pxe') {
    const kargs = liveKernelArguments({ ignition: ignition !== undefined })
    if (!ignition || first === undefined) return { paths, kargs }
    const wrapped = join(folder, `${parse(first).name}-ignition.img`.replace('-live-kernel', '-live'))
    const archive = await wrapFiles(new Map([[IGNITION_FILE, Buffer.from(ignition)]]), clock)
    await withClockHeld(clock, `writing ${wrapped}`, () => writeFile(wrapped, archive))
    return { paths: [...paths, wrapped], kargs }
  }
  if (!ignition || first === undefined) return { paths, kargs: null }
  await using file = await openFileSource(first, clock, true)
  const iso = await openLiveIso(file, clock)
  await file.replace([await iso.embed(new Map([[IGNITION_FILE, Buffer.from(ignition)]]))])
  return { paths, kargs: null }
}
