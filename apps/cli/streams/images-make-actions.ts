import { existsSync } from 'node:fs'
import { link, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { decodedFile, compressXz, sha256Hex } from '../../../base/bytes/index.js'
import {
  bootableContainer,
  buildTime,
  COREOS_SYSTEMS,
  documentText,
  LIVE_ARCHITECTURES,
  smallLiveImage,
  smallStream,
  systemOfVersion,
  type ArchitectureFiles,
  type CoreosName,
  type DigestedFile,
  type LiveArchitecture,
} from '../../../coreos/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { putImage } from '../../../base/registry/index.js'
import { metalImage } from '../../../machine/index.js'
import {
  defined,
  isDiskFull,
  makeFolder,
  packageVersion,
  systemClock,
  temporaryFolder,
  UserError,
  type Clock,
} from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { IMAGES_MAKE_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'
import { imagesFor } from './fetching.js'
import { newImagePlace } from './release-actions.js'

type ImagesMakeOptions = CommandOptionValues<(typeof IMAGES_MAKE_OPTIONS)[number]> & { version: string }

/** `ironstage images make`: images of a version and their stream metadata, or a container that bootc can install. */
export const imagesMake = (options: ImagesMakeOptions, environment: Environment): Promise<number> =>
  options.bootc === undefined ? coreosMake(options, environment) : containerMake(options, environment, options.bootc)

async function coreosMake(options: ImagesMakeOptions, environment: Environment): Promise<number> {
  const { version, arch = ['x86_64'], directory = '.', force = false, json } = options
  // The table has checked the word.
  const name = systemOfVersion(version, options['system-name'] as CoreosName | undefined)
  const architectures = [...new Set(arch)].map(liveArchitectureOf)
  const baseUrl = folderUrl(options['images-url'] ?? 'https://images.invalid/')
  const clock = systemClock()
  const names = architectures.map((architecture) => fileNames(name, version, architecture))
  const paths = [...names.flatMap((one) => Object.values(one)), STREAM_FILE].map((file) => join(directory, file))
  if (!force) for (const path of paths) refuseExisting(path)
  await outputFolder(directory)
  await using folder = await writing(directory, () => temporaryFolder(directory))
  const made: Record<string, ArchitectureFiles> = {}
  const put = (file: string, bytes: Uint8Array): Promise<void> =>
    writing(join(directory, file), () => writeFile(join(folder.path, file), bytes))
  for (const [index, architecture] of architectures.entries()) {
    made[architecture] = await makeImages({
      name,
      version,
      architecture,
      names: names[index]!,
      folder: folder.path,
      put,
      clock,
    })
    environment.stopped.throwIfAborted()
  }
  const stream = smallStream({
    stream: options['image-stream'] ?? streamNameOf(name, version),
    version,
    architectures: made,
    baseUrl,
    modified: new Date(clock.now()).toISOString().replace(/\.\d+/, ''),
    generator: `ironstage ${packageVersion()}`,
  })
  await put(STREAM_FILE, Buffer.from(documentText(stream)))
  // All files are complete before the first one is renamed into place.
  for (const path of paths) {
    const whole = join(folder.path, path.slice(join(directory, '/').length))
    await writing(path, () => (force ? rename(whole, path) : link(whole, path)))
    environment.stdout.either(json, { path }, `${path}`)
  }
  return 0
}

/** A container that bootc can install, in a folder or a registry. */
async function containerMake(options: ImagesMakeOptions, environment: Environment, dest: string): Promise<number> {
  const { version, arch = ['x86_64'], json = false } = options
  const unused = (['directory', 'images-url', 'force'] as const).find((one) => options[one] !== undefined)
  if (unused !== undefined)
    throw usageError(
      `--bootc and --${unused === 'images-url' ? 'base-url' : unused} do not go together: a container is put where --bootc says`,
      'leave one of them out',
    )
  const name = systemOfVersion(version, options['system-name'] as CoreosName | undefined)
  const architectures = [...new Set(arch)].map(liveArchitectureOf)
  const place = newImagePlace(dest, 'a container')
  const tag = place.tag ?? version.replaceAll('+', '_')
  const images = await imagesFor(options, environment)
  const created = buildTime(version)
  const comment = `ironstage ${packageVersion()}`
  const stream = options['image-stream']
  const made = bootableContainer({ name, version, architectures, created, comment, ...defined({ stream }) })
  const put = () => putImage(made, { sink: images.sink(place), tag, signal: environment.stopped })
  await (place.kind === 'layout' ? writing(place.folder, put, '--bootc') : put())
  const where = place.kind === 'layout' ? `oci:${place.folder}` : `${place.registry}/${place.repository}`
  const { digest } = made
  environment.stdout.either(json, { image: `${where}:${tag}`, digest }, `${where}:${tag} ${digest}`)
  return 0
}

const STREAM_FILE = 'stream.json'

type FileNames = Record<'metal' | 'iso' | 'kernel' | 'initramfs' | 'rootfs', string>

/** Names of published files (coreos-assembler since 2025). */
function fileNames(name: CoreosName, version: string, architecture: string): FileNames {
  const { prefix, packing } = COREOS_SYSTEMS[name]
  const file = (what: string, ending: string): string => `${prefix}-${version}-${what}.${architecture}${ending}`
  return {
    metal: file('metal', `.raw.${packing}`),
    iso: file('live-iso', '.iso'),
    kernel: file('live-kernel', ''),
    initramfs: file('live-initramfs', '.img'),
    rootfs: file('live-rootfs', '.img'),
  }
}

interface Making {
  name: CoreosName
  version: string
  architecture: LiveArchitecture
  names: FileNames
  folder: string
  put: (file: string, bytes: Uint8Array) => Promise<void>
  clock: Clock
}

async function makeImages({
  name,
  version,
  architecture,
  names,
  folder,
  put,
  clock,
}: Making): Promise<ArchitectureFiles> {
  const { title, packing } = COREOS_SYSTEMS[name]
  const digested: Partial<Record<keyof FileNames, DigestedFile>> = {}
  const add = async (kind: keyof FileNames, bytes: Uint8Array, inside?: Uint8Array): Promise<void> => {
    await put(names[kind], bytes)
    digested[kind] = {
      name: names[kind],
      sha256: sha256Hex(bytes),
      ...defined({ uncompressedSha256: inside ? sha256Hex(inside) : undefined }),
    }
  }
  const live = smallLiveImage({ name, version, architecture })
  for (const kind of ['iso', 'kernel', 'initramfs', 'rootfs'] as const) await add(kind, live[kind])
  const raw = await writing(folder, async () =>
    metalImage({ base: await baseImage(clock), title: `${title} ${version}`, architecture, folder, clock }),
  )
  // Nearly all of it is zeros.
  const packed = packing === 'xz' ? await compressXz(raw, clock, { quickly: true }) : await promisify(gzip)(raw)
  await add('metal', packed, raw)
  return { packing, ...(digested as Record<keyof FileNames, DigestedFile>) }
}

async function baseImage(clock: Clock): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of decodedFile(REHEARSAL_IMAGE, clock)) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

/** Names of streams as they are published: by the third number of a version of Fedora, by the release of RHEL. */
function streamNameOf(name: CoreosName, version: string): string {
  if (name === 'fcos') return { 1: 'next', 2: 'testing', 3: 'stable' }[version.split('.')[2]!] ?? 'stable'
  const [, major, minor] = /^(4)(\d{1,2})\.\d+\./.exec(version) ?? /^(\d+)\.(\d+)/.exec(version)!
  if (name === 'scos') return `c${major}s`
  return version.startsWith('4') ? `rhcos-${major}.${minor}` : `rhel-${major}.${minor}`
}

function liveArchitectureOf(name: string): LiveArchitecture {
  const found = LIVE_ARCHITECTURES.find((one) => one === name)
  if (found) return found
  throw usageError(`there is no CoreOS for ${name}`, `choose ${LIVE_ARCHITECTURES.join(', ')}`)
}

function folderUrl(url: string): string {
  if (/^https?:\/\/[^\s?#]+$/.test(url) && URL.canParse(url)) return url.replace(/\/*$/, '/')
  throw usageError(`${url} is not a URL of a folder`, 'give one like https://192.0.2.1/')
}

const exists = (path: string): UserError =>
  new UserError('images-make', `${path} exists`, { remedy: 'replace it with --force, or name another folder with -C' })

function refuseExisting(path: string): void {
  if (existsSync(path)) throw exists(path)
}

async function outputFolder(path: string): Promise<void> {
  if ((await stat(path).catch(() => null))?.isDirectory() === false)
    throw new UserError('images-make', `${path} is not a folder`, { remedy: 'name another one with -C' })
  await writing(path, () => makeFolder(path))
}

/** @throws UserError `images-make` for a full disk, and for a place that cannot be written */
async function writing<T>(path: string, work: () => Promise<T>, option = '-C'): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw exists(path)
    const full = isDiskFull(cause)
    throw new UserError('images-make', full ? `the disk of ${path} is full` : `${path} cannot be written`, {
      cause,
      remedy: full
        ? `free 100 MiB, or name another folder with ${option}`
        : `name a folder that you may write, with ${option}`,
    })
  }
}
