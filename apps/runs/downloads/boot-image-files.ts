import { rename } from 'node:fs/promises'
import { basename, join, parse } from 'node:path'
import { IGNITION_FILE, liveKernelArguments, openLiveIso, wrapFiles, type BootImage } from '../../../coreos/index.js'
import { openFileSource } from '../../../base/bytes/index.js'
import {
  makeFolder,
  temporaryFolder,
  UserError,
  withClockHeld,
  writeResult,
  type Clock,
} from '../../../base/runtime/index.js'
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
    throw new UserError('boot-image-ignition', `images of format ${image.format} take no Ignition config`, {
      remedy: ERRORS['boot-image-ignition'].remedy,
      kind: 'usage',
    })
  if (ignition && image.format === 'iso') return { paths: await isoWithConfig(image, ignition, options), kargs: null }
  const paths = (await downloadArtifacts(Object.values(image.files), options)).map(({ path }) => path)
  const [first] = paths
  if (image.format === 'pxe') {
    const kargs = liveKernelArguments({ ignition: ignition !== undefined })
    if (!ignition || first === undefined) return { paths, kargs }
    const wrapped = join(folder, `${parse(first).name}-ignition.img`.replace('-live-kernel', '-live'))
    const archive = await wrapFiles(new Map([[IGNITION_FILE, Buffer.from(ignition)]]), clock)
    await withClockHeld(clock, `writing ${wrapped}`, () => writeResult(wrapped, archive))
    return { paths: [...paths, wrapped], kargs }
  }
  return { paths, kargs: null }
}

/** Embeds the config before the ISO gets its name: one with an earlier config stays where this one does not fit. */
async function isoWithConfig(
  { files }: BootImage & { kind: 'files' },
  ignition: Uint8Array,
  options: BootImageOptions,
): Promise<string[]> {
  const { folder, clock } = options
  await withClockHeld(clock, `making ${folder}`, () => makeFolder(folder))
  await using beside = await temporaryFolder(folder)
  const from = { ...options, folder: beside.path, beside: options.beside ?? folder }
  const paths: string[] = []
  for (const { path } of await downloadArtifacts(Object.values(files), from)) {
    await embedConfig(path, ignition, clock)
    const named = join(folder, basename(path))
    await withClockHeld(clock, `naming ${named}`, () => rename(path, named))
    paths.push(named)
  }
  return paths
}

async function embedConfig(path: string, ignition: Uint8Array, clock: Clock): Promise<void> {
  await using file = await openFileSource(path, clock, true)
  const iso = await openLiveIso(file, clock)
  await file.replace([await iso.embed(new Map([[IGNITION_FILE, Buffer.from(ignition)]]))])
}
