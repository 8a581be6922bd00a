import { readFile, writeFile } from 'node:fs/promises'
import { sha256Hex } from '../../base/bytes/index.js'
import { join } from 'node:path'
import { withClockHeld, type Clock } from '../../base/runtime/index.js'
import { withBootVolume, type BootVolume } from '../disk/boot-volume.js'
import { openFileDisk } from '../disk/file-disk.js'
import { readLayout } from '../disk/disk-partitions.js'

export interface MetalImageOptions {
  /** A metal image whose partitions and files the new one gets. */
  base: Uint8Array
  /** As boot loaders show it: `Fedora CoreOS 38.20230718.3.0`. */
  title: string
  architecture: string
  /** Ignition's name of the platform that the image is for. Default: that of the base, `metal`. */
  platform?: string
  /** Folder for the image while it is changed. */
  folder: string
  clock: Clock
}

/** Makes a metal image of another version, in which the boot loader's entry names version and architecture. */
export async function metalImage({
  base,
  title,
  architecture,
  platform = 'metal',
  folder,
  clock,
}: MetalImageOptions): Promise<Buffer> {
  const path = join(folder, 'metal.raw')
  await withClockHeld(clock, `writing ${path}`, () => writeFile(path, base))
  const device = await openFileDisk({ path, name: 'metal image', sectorSize: 512, clock })
  try {
    const { partitions } = await readLayout(device)
    const boot = partitions.find(({ filesystem }) => filesystem?.label === 'boot')
    if (!boot) throw new Error('the base of the metal image has no filesystem labelled boot')
    await withBootVolume(device, boot.offset, clock, (volume) => changeEntry(volume, { title, architecture, platform }))
    await device.flush()
  } finally {
    await device[Symbol.asyncDispose]()
  }
  return withClockHeld(clock, `reading ${path}`, () => readFile(path))
}

const LOADER_ENTRIES = '/loader/entries'
/** Architecture of the kernel in the base. */
const BASE_ARCHITECTURE = 'x86_64'

/** The deployment's checksum is of version and architecture: images of two real builds have different ones too. */
async function changeEntry(
  volume: BootVolume,
  { title, architecture, platform }: Pick<MetalImageOptions, 'title' | 'architecture'> & { platform: string },
): Promise<void> {
  const [name] = await volume.list(LOADER_ENTRIES)
  const path = `${LOADER_ENTRIES}/${name!}`
  const base = (await volume.read(path)).toString()
  const text = base.replace(/\bignition\.platform\.id=\S+/, () => `ignition.platform.id=${platform}`)
  const [before = '\0'] = /[0-9a-f]{64}/.exec(text) ?? []
  const after = sha256Hex(`${title} ${architecture}`)
  const renamed = (words: string): string =>
    words.replaceAll(before, after).replaceAll(`.${BASE_ARCHITECTURE}`, `.${architecture}`)
  await volume.write(path, Buffer.from(renamed(text.replace(/^title .*$/m, () => `title ${title} (ostree:0)`))))
  for (const folder of await volume.list('/ostree')) await moveKernel(volume, `/ostree/${folder}`, renamed)
}

/** Moves kernel and initramfs to where the entry has them. */
async function moveKernel(volume: BootVolume, folder: string, renamed: (path: string) => string): Promise<void> {
  if (renamed(folder) === folder) return
  await volume.mkdir(renamed(folder))
  for (const file of await volume.list(folder)) {
    const bytes = await volume.read(`${folder}/${file}`)
    await volume.create(renamed(`${folder}/${file}`), bytes)
    await volume.remove(`${folder}/${file}`)
  }
  await volume.remove(folder)
}
