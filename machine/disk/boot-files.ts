import { defined, type Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { findBootPlace, withBootPlace } from './boot-place.js'
import { VolumeError, type BootVolume, type VolumeStat } from './boot-volume.js'
import { readLayout } from './disk-partitions.js'

/** A file, directory or link of a boot filesystem. */
export interface BootFile extends VolumeStat {
  path: string
  /** Where a link points. */
  target?: string
  /** Contents, only for a single requested file. */
  bytes?: Uint8Array
}

/** Paths that are listed at most: a damaged filesystem can have any number. */
const MAX_LISTED_PATHS = 5000

/**
 * Lists the boot filesystem of a disk, or one path of it with its contents.
 *
 * @returns undefined when the disk has no boot filesystem, or it has not the path
 */
export async function bootFiles(
  device: SimulatedDisk,
  path: string | null,
  clock: Clock,
): Promise<BootFile[] | undefined> {
  const { partitions } = await readLayout(device)
  const boot = findBootPlace(partitions)
  if (!boot) return undefined
  return withBootPlace(
    device,
    boot,
    clock,
    async (volume) => {
      if (boot.folder !== '' && !(await volume.exists('/loader'))) return undefined
      if (path === null) return listBootFiles(volume)
      try {
        const one = await describeBootFile(volume, path)
        return [one.kind === 'file' ? { ...one, bytes: await volume.read(path) } : one]
      } catch (error) {
        if (error instanceof VolumeError && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
        throw error
      }
    },
    { readOnly: true },
  )
}

async function listBootFiles(volume: BootVolume): Promise<BootFile[]> {
  const found: BootFile[] = []
  const folders = ['']
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift())
    for (const name of await volume.list(folder || '/')) {
      if (found.length >= MAX_LISTED_PATHS) return found
      const one = await describeBootFile(volume, `${folder}/${name}`)
      found.push(one)
      if (one.kind === 'directory') folders.push(one.path)
    }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function describeBootFile(volume: BootVolume, path: string): Promise<BootFile> {
  const stat = await volume.stat(path, { follow: false })
  return { path, ...stat, ...defined({ target: stat.kind === 'symlink' ? await volume.readlink(path) : undefined }) }
}
