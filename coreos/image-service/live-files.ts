import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { defined, during, withClockHeld, UserError, type Clock } from '../../base/runtime/index.js'
import { type ByteSource, openFileSource, sha256Hex } from '../../base/bytes/index.js'
import { openLiveIso, type LiveIso } from '../live/live-iso.js'
import { pxeFiles } from '../live/pxe-files.js'

/** Paths of a live CoreOS on this host: an ISO, or kernel, initramfs and root filesystem, or both. */
export interface LiveImageFiles {
  architecture: string
  /** Name by which it is asked for, where there are several of one architecture. Default: the architecture. */
  name?: string
  iso?: string
  kernel?: string
  initramfs?: string
  rootfs?: string
}

/** A file that is served unchanged or with an overlay. */
export interface BaseFile {
  source: ByteSource
  /** Identifies the file's contents: changes when the file does. */
  identity: string
  /** Time of the last change, in milliseconds since the epoch. */
  modified: number
}

/** The open files of a live CoreOS. */
export interface LiveSet extends AsyncDisposable {
  readonly name: string
  readonly iso?: BaseFile & { live: LiveIso }
  /** Files for PXE; those in the ISO when there are no separate ones. */
  readonly pxe?: { kernel: BaseFile; initramfs: BaseFile; rootfs: BaseFile }
}

const liveFilesError = (message: string): UserError =>
  new UserError('live-files', message, {
    remedy: 'give a live ISO, or kernel, initramfs and rootfs together, as Fedora publishes them',
    kind: 'usage',
  })

/**
 * Opens a live CoreOS for serving.
 *
 * @throws UserError `live-files` for an incomplete set of files, or for an ISO with an embedded config, which the one that
 *   is served would replace; its kernel arguments may have been changed;
 *   LiveImageError for an ISO that is not a CoreOS live image
 */
export async function openLiveImage(files: LiveImageFiles, clock: Clock): Promise<LiveSet> {
  const { architecture, name = architecture, kernel, initramfs, rootfs } = files
  const opened: AsyncDisposable[] = []
  const dispose = async () => {
    for (const file of opened.splice(0)) await file[Symbol.asyncDispose]()
  }
  const open = (path: string): Promise<BaseFile> =>
    during(`opening ${path}`, async () => {
      const found = await withClockHeld(clock, `looking at ${path}`, () => stat(path))
      const source = await openFileSource(path, clock)
      opened.push(source)
      const { size, mtimeMs, ino } = found
      return { source, identity: shortDigest(`${size} ${mtimeMs} ${ino}`), modified: mtimeMs }
    })
  try {
    const pxePaths = [kernel, initramfs, rootfs].filter((path) => path !== undefined)
    if (pxePaths.length % 3 !== 0)
      throw liveFilesError('only some of kernel, initramfs and rootfs of a live image were given')
    if (pxePaths.length === 0 && files.iso === undefined) throw liveFilesError(`there is no live image for ${name}`)
    const iso = files.iso === undefined ? undefined : await openIso(await open(files.iso), files.iso, clock)
    const pxe =
      kernel !== undefined && initramfs !== undefined && rootfs !== undefined
        ? { kernel: await open(kernel), initramfs: await open(initramfs), rootfs: await open(rootfs) }
        : await pxeOf(iso!)
    return { name, ...defined({ iso: iso || undefined, pxe }), [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

async function openIso(base: BaseFile, path: string, clock: Clock): Promise<NonNullable<LiveSet['iso']>> {
  const live = await during(`reading ${path}`, () => openLiveIso(base.source, clock))
  if (live.files.size > 0)
    throw new UserError('live-files', `the ISO ${path} is already customized: ${[...live.files.keys()].join(', ')}`, {
      remedy: 'give the ISO as published, or with other kernel arguments alone; ironstage iso reset restores it',
      kind: 'usage',
    })
  return { ...base, live }
}

async function pxeOf({ live, identity, modified }: NonNullable<LiveSet['iso']>): Promise<LiveSet['pxe']> {
  const files = new Map<string, BaseFile>()
  for (const { name, contents } of await pxeFiles(live.filesystem))
    files.set(name, { source: contents, identity: shortDigest(`${identity} ${name}`), modified })
  const kernel = files.get('vmlinuz')
  const initramfs = files.get('initrd.img')
  const rootfs = files.get('rootfs.img')
  return kernel && initramfs && rootfs ? { kernel, initramfs, rootfs } : undefined
}

const LIVE_FILE_PATTERNS = {
  iso: /\.iso$/,
  kernel: /(kernel|vmlinuz)/,
  initramfs: /(initramfs|initrd)/,
  rootfs: /rootfs/,
} as const
const ARCHITECTURES = ['x86_64', 'aarch64', 'ppc64le', 's390x']

/**
 * Finds the live images in a folder, by architecture. Names are those of published files (`...-live-kernel-x86_64`,
 * `...-live.aarch64.iso`), extracted ones (`...-vmlinuz`) or installed ones (`coreos-x86_64.iso`). A name without an
 * architecture counts as x86_64.
 *
 * @throws UserError `live-files` for a folder without live images, or with two files of one kind
 */
export async function findLiveImages(folder: string, clock: Clock): Promise<LiveImageFiles[]> {
  const names = await withClockHeld(clock, `listing ${folder}`, () => readdir(folder)).catch((cause: unknown) => {
    throw new UserError('live-files', `the folder ${folder} cannot be listed`, {
      cause,
      remedy: 'name an existing folder',
      kind: 'usage',
    })
  })
  const found = new Map<string, LiveImageFiles>()
  for (const name of names.sort()) {
    // Signatures and digests have the name of their image, with another ending.
    if (/\.(sig|sha\d+|asc)$/.test(name)) continue
    const kind = (Object.keys(LIVE_FILE_PATTERNS) as (keyof typeof LIVE_FILE_PATTERNS)[]).find((one) =>
      LIVE_FILE_PATTERNS[one].test(name),
    )
    if (!kind) continue
    const architecture = ARCHITECTURES.find((one) => name.includes(one)) ?? 'x86_64'
    const files = found.get(architecture) ?? { architecture }
    if (files[kind] !== undefined)
      throw liveFilesError(`${folder} has two files that may be the ${kind} of ${architecture}`)
    found.set(architecture, { ...files, [kind]: join(folder, name) })
  }
  if (found.size === 0) throw liveFilesError(`there is no live image in ${folder}`)
  return [...found.values()]
}

export const shortDigest = (text: string | Uint8Array): string => sha256Hex(text).slice(0, 32)
