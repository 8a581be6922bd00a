import { defined } from '../../../base/runtime/index.js'
import { bytesSource, openFileSource, overlaySource, type FileSource, type Patch } from '../../../base/bytes/index.js'
import {
  customize,
  editLiveKargs,
  IGNITION_FILE,
  keyfileFiles,
  keyfilesAt,
  keyfilesIn,
  keyfilesText,
  LiveImageError,
  type LiveIso,
  minimalIso,
  openLiveIso,
  pxeFiles,
  requireNetwork,
  withoutKeyfiles,
} from '../../../coreos/index.js'
import { basename, extname } from 'node:path'
import { wishesOf } from './customization.js'
import type { CustomizeFlags } from './customize-options.js'
import {
  extractPath,
  extractTo,
  inputBytes,
  namedFiles,
  refuseTerminal,
  writeNew,
  writeOutput,
  writeTo,
  type LiveCommand,
} from './live-input.js'

/** Where a changed image goes: over itself, to a new file, or to `-`. */
interface IsoDestination {
  output?: string
}

/** Changes an image by what `patches` says of it. */
async function changeImage(
  path: string,
  { output }: IsoDestination,
  { environment, clock }: LiveCommand,
  patches: (iso: LiveIso) => Promise<Patch[]> | Patch[],
): Promise<void> {
  refuseTerminal(output, environment)
  await using image = await LiveImageError.during(`opening ${path}`, () =>
    openFileSource(path, clock, output === undefined),
  )
  const found = await patches(await openLiveIso(image, clock))
  if (output === undefined) await image.replace(found)
  else await writeOutput(output, overlaySource(image, found), environment)
}

/** Reads an image without changing it. */
async function readLiveIso<T>(
  path: string,
  { clock }: LiveCommand,
  use: (iso: LiveIso, image: FileSource) => Promise<T> | T,
): Promise<T> {
  await using image = await LiveImageError.during(`opening ${path}`, () => openFileSource(path, clock))
  return await use(await openLiveIso(image, clock), image)
}

export async function ignitionEmbed(
  path: string,
  options: IsoDestination & { force?: boolean; ignitionFile?: string },
  command: LiveCommand,
): Promise<void> {
  const config = await inputBytes(options.ignitionFile, command.environment)
  await changeImage(path, options, command, async (iso) => {
    if (iso.files.has(IGNITION_FILE) && !options.force)
      throw new LiveImageError('This ISO image already has an embedded Ignition config; use -f to force.')
    return [await iso.embed(new Map([...iso.files, [IGNITION_FILE, config]]))]
  })
}

export async function ignitionShow(path: string, _: object, command: LiveCommand): Promise<void> {
  await readLiveIso(path, command, ({ files }) => {
    const config = files.get(IGNITION_FILE)
    if (!config) throw new LiveImageError('No embedded Ignition config.')
    return writeTo(command.environment, bytesSource(config))
  })
}

export async function ignitionRemove(path: string, options: IsoDestination, command: LiveCommand): Promise<void> {
  await changeImage(path, options, command, async (iso) => {
    const files = new Map(iso.files)
    files.delete(IGNITION_FILE)
    return [await iso.embed(files)]
  })
}

export async function networkEmbed(
  path: string,
  options: IsoDestination & { force?: boolean; keyfile: string[] },
  command: LiveCommand,
): Promise<void> {
  const keyfiles = keyfilesAt(await namedFiles(options.keyfile))
  await changeImage(path, options, command, async (iso) => {
    requireNetwork(await iso.features())
    const without = withoutKeyfiles(iso.files)
    if (without.size < iso.files.size && !options.force)
      throw new LiveImageError('This ISO image already has embedded network settings; use -f to force.')
    return [await iso.embed(new Map([...without, ...keyfileFiles(keyfiles)]))]
  })
}

export async function networkExtract(
  path: string,
  options: { directory?: string },
  command: LiveCommand,
): Promise<void> {
  const keyfiles = await readLiveIso(path, command, ({ files }) => keyfilesIn(files))
  await printKeyfiles(keyfiles, options, command)
}

/** To a folder, or all of them as one text. */
export async function printKeyfiles(
  keyfiles: ReturnType<typeof keyfilesIn>,
  { directory }: { directory?: string },
  { environment }: LiveCommand,
): Promise<void> {
  if (keyfiles.length === 0) throw new LiveImageError('No embedded network settings.')
  if (directory === undefined) return writeTo(environment, bytesSource(keyfilesText(keyfiles)))
  for (const { name, bytes } of keyfiles) {
    const target = extractPath(directory, name)
    await extractTo(directory, target, bytesSource(bytes))
    environment.stdout.line(target)
  }
}

export async function networkRemove(path: string, options: IsoDestination, command: LiveCommand): Promise<void> {
  await changeImage(path, options, command, async (iso) => [await iso.embed(withoutKeyfiles(iso.files))])
}

function kargsOf({ kargs }: LiveIso): NonNullable<LiveIso['kargs']> {
  if (!kargs) throw new LiveImageError('No karg embed areas found; old or corrupted CoreOS ISO image.')
  return kargs
}

export async function kargsModify(
  path: string,
  options: IsoDestination & { append?: string[]; delete?: string[]; replace?: string[] },
  command: LiveCommand,
): Promise<void> {
  await changeImage(path, options, command, (iso) => {
    const kargs = kargsOf(iso)
    return kargs.write(editLiveKargs(kargs.current, options))
  })
}

export async function kargsReset(path: string, options: IsoDestination, command: LiveCommand): Promise<void> {
  await changeImage(path, options, command, (iso) => {
    const kargs = kargsOf(iso)
    return kargs.write(kargs.default)
  })
}

export async function kargsShow(path: string, options: { default?: boolean }, command: LiveCommand): Promise<void> {
  await readLiveIso(path, command, (iso) => {
    const kargs = kargsOf(iso)
    command.environment.stdout.line(options.default ? kargs.default : kargs.current)
  })
}

export async function isoReset(path: string, options: IsoDestination, command: LiveCommand): Promise<void> {
  await changeImage(path, options, command, (iso) => iso.pristine())
}

/** Customizes the published image: what was embedded before is replaced. */
export async function isoCustomize(
  path: string,
  options: IsoDestination &
    CustomizeFlags & {
      force?: boolean
      liveKargAppend?: string[]
      liveKargDelete?: string[]
      liveKargReplace?: string[]
    },
  command: LiveCommand,
): Promise<void> {
  await changeImage(path, options, command, async (iso) => {
    if (iso.customized && !options.force)
      throw new LiveImageError('This ISO image is already customized; use -f to force.')
    const features = await iso.features()
    const wishes = await wishesOf(options, command)
    const customized = customize(wishes, features, (message) => command.environment.stderr.lines(message.split('\n')))
    const { liveKargAppend = [], liveKargDelete = [], liveKargReplace = [] } = options
    const edit = { append: liveKargAppend, delete: liveKargDelete, replace: liveKargReplace }
    if (!iso.kargs && Object.values(edit).some(({ length }) => length > 0))
      throw new LiveImageError('This OS image does not support customizing live kernel arguments.')
    const kargs = iso.kargs ? iso.kargs.write(editLiveKargs(iso.kargs.default, edit)) : []
    return [await iso.embed(customized.files), ...kargs]
  })
}

export async function extractPxe(
  path: string,
  { outputDir }: { outputDir: string },
  command: LiveCommand,
): Promise<void> {
  await readLiveIso(path, command, async ({ filesystem }) => {
    const stem = basename(path, extname(path))
    for (const { name, contents } of await pxeFiles(filesystem)) {
      const target = extractPath(outputDir, `${stem}-${name}`)
      command.environment.stdout.line(target)
      await extractTo(outputDir, target, contents)
    }
  })
}

export async function extractMinimalIso(
  path: string,
  options: { outputRootfs?: string; rootfsUrl?: string },
  command: LiveCommand,
  output = '-',
): Promise<void> {
  const { environment, clock } = command
  refuseTerminal(output, environment)
  await readLiveIso(path, command, async (iso, image) => {
    const { rootfsUrl, outputRootfs } = options
    const open = (minimal: Parameters<typeof openLiveIso>[0]) => openLiveIso(minimal, clock)
    const minimal = await minimalIso(image, iso, { ...defined({ rootfsUrl }), clock, open })
    if (outputRootfs !== undefined) {
      const rootfs = 'IMAGES/PXEBOOT/ROOTFS.IMG'
      const entry = await LiveImageError.during(`looking up '${rootfs}'`, () => iso.filesystem.find(rootfs))
      await writeNew(outputRootfs, iso.filesystem.contents(entry))
    }
    await writeOutput(output, minimal, environment)
  })
}
