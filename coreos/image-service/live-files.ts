import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { during, held, UserError, type Clock } from '../../runtime/index.js'
import { type ByteSource, openFileSource } from '../../bytes/index.js'
import { openLiveIso, type LiveIso } from '../live/live-iso.js'
import { pxeFiles } from '../live/pxe-files.js'

/** Which files of this host are a live CoreOS: an ISO, or kernel, initramfs and root filesystem, or both. */
export interface LiveImageFiles {
  architecture: string
  iso?: string
  kernel?: string
  initramfs?: string
  rootfs?: string
}

/** A file that is served as it is, or with something laid over it. */
export interface BaseFile {
  source: ByteSource
  /** Another one when the file is another. */
  identity: string
  /** Milliseconds since the epoch. */
  modified: number
}

/** A live CoreOS that is open. */
export interface LiveSet extends AsyncDisposable {
  readonly architecture: string
  readonly iso?: BaseFile & { live: LiveIso }
  /** Of the ISO, where there are no files of their own. */
  readonly pxe?: { kernel: BaseFile; initramfs: BaseFile; rootfs: BaseFile }
}

const wrong = (message: string): UserError =>
  new UserError('live-files', message, {
    remedy: 'give a live ISO, or kernel, initramfs and rootfs together, as Fedora publishes them',
    kind: 'usage',
  })

/**
 * Opens a live CoreOS for serving.
 *
 * @throws UserError `live-files` for files that do not belong together; LiveImageError for an ISO that is none, or that
 *   was customised already
 */
export async function openLiveImage(files: LiveImageFiles, clock: Clock): Promise<LiveSet> {
  const { architecture, kernel, initramfs, rootfs } = files
  const opened: AsyncDisposable[] = []
  const dispose = async () => {
    for (const file of opened.splice(0)) await file[Symbol.asyncDispose]()
  }
  const open = (path: string): Promise<BaseFile> =>
    during(`opening ${path}`, async () => {
      const found = await held(clock, `looking at ${path}`, () => stat(path))
      const source = await openFileSource(path, clock)
      opened.push(source)
      const { size, mtimeMs, ino } = found
      return { source, identity: digest(`${size} ${mtimeMs} ${ino}`), modified: mtimeMs }
    })
  try {
    const given = [kernel, initramfs, rootfs].filter((path) => path !== undefined)
    if (given.length % 3 !== 0) throw wrong('of kernel, initramfs and rootfs of a live image only some were given')
    if (given.length === 0 && files.iso === undefined) throw wrong(`there is no live image for ${architecture}`)
    const iso = files.iso === undefined ? undefined : await openIso(await open(files.iso), files.iso, clock)
    const pxe =
      kernel !== undefined && initramfs !== undefined && rootfs !== undefined
        ? { kernel: await open(kernel), initramfs: await open(initramfs), rootfs: await open(rootfs) }
        : await pxeOf(iso!)
    return { architecture, ...(iso ? { iso } : {}), ...(pxe ? { pxe } : {}), [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

async function openIso(base: BaseFile, path: string, clock: Clock): Promise<NonNullable<LiveSet['iso']>> {
  const live = await during(`reading ${path}`, () => openLiveIso(base.source, clock))
  if (live.customized)
    throw new UserError('live-files', `the ISO ${path} is customised already`, {
      remedy: 'give it as it was published; ironstage iso reset makes it so',
      kind: 'usage',
    })
  return { ...base, live }
}

async function pxeOf({ live, identity, modified }: NonNullable<LiveSet['iso']>): Promise<LiveSet['pxe']> {
  const files = new Map<string, BaseFile>()
  for (const { name, contents } of await pxeFiles(live.filesystem))
    files.set(name, { source: contents, identity: digest(`${identity} ${name}`), modified })
  const [kernel, initramfs, rootfs] = [files.get('vmlinuz'), files.get('initrd.img'), files.get('rootfs.img')]
  return kernel && initramfs && rootfs ? { kernel, initramfs, rootfs } : undefined
}

const KINDS = {
  iso: /\.iso$/,
  kernel: /(kernel|vmlinuz)/,
  initramfs: /(initramfs|initrd)/,
  rootfs: /rootfs/,
} as const
const ARCHITECTURES = ['x86_64', 'aarch64', 'ppc64le', 's390x']

/**
 * The live images in a folder, by architecture: named as they are published (`...-live-kernel-x86_64`,
 * `...-live.aarch64.iso`), extracted (`...-vmlinuz`) or installed (`coreos-x86_64.iso`). A name without an architecture is
 * for x86_64.
 *
 * @throws UserError `live-files` for a folder without any, or with two of a kind
 */
export async function findLiveImages(folder: string, clock: Clock): Promise<LiveImageFiles[]> {
  const names = await held(clock, `listing ${folder}`, () => readdir(folder)).catch((cause: unknown) => {
    throw new UserError('live-files', `the folder ${folder} cannot be listed`, {
      cause,
      remedy: 'name a folder that is there',
      kind: 'usage',
    })
  })
  const found = new Map<string, LiveImageFiles>()
  for (const name of names.sort()) {
    // Signatures and digests lie beside what they are of.
    if (/\.(sig|sha\d+|asc)$/.test(name)) continue
    const kind = (Object.keys(KINDS) as (keyof typeof KINDS)[]).find((one) => KINDS[one].test(name))
    if (!kind) continue
    const architecture = ARCHITECTURES.find((one) => name.includes(one)) ?? 'x86_64'
    const files = found.get(architecture) ?? { architecture }
    if (files[kind] !== undefined) throw wrong(`${folder} has two files that may be the ${kind} of ${architecture}`)
    found.set(architecture, { ...files, [kind]: join(folder, name) })
  }
  if (found.size === 0) throw wrong(`there is no live image in ${folder}`)
  return [...found.values()]
}

export const digest = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 32)
