import type { Clock } from '../../../base/runtime/index.js'
import { removeTree, withBootVolume, type BootVolume } from '../../disk/boot-volume.js'
import { FatVolume } from '../../disk/fat-volume.js'
import { fileError, normalPath } from '../../file-tree.js'
import { findBlockNode } from '../block/block-nodes.js'
import { mdstat } from '../block/md-arrays.js'
import type { ProgramMachine } from '../machine-program.js'

export interface FileStat {
  kind: 'file' | 'directory' | 'block device'
  mode: number
  uid: number
  gid: number
  size: number
}

/** Files as system calls on the machine see them: the ramdisk's files, mounted filesystems, device nodes. */
export interface FileView {
  read(path: string): Promise<Uint8Array>
  /** Creates parent folders. */
  write(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void>
  /** Creates parent folders; no error when it exists. */
  mkdir(path: string, options?: { mode?: number }): Promise<void>
  /** Removes a path, a folder with its contents. */
  remove(path: string): Promise<void>
  exists(path: string): Promise<boolean>
  list(path: string): Promise<string[]>
  stat(path: string): Promise<FileStat>
}

/** Opens a view in which files below a mount point are always read from and written to the disk. */
export const fileView = (inside: ProgramMachine, clock: Clock): FileView => new MountedFileView(inside, clock)

/** Access to a path by what it is on: the ramdisk's own files, or a filesystem on a disk. */
interface PathAccess<T> {
  writes: boolean
  tree: (path: string) => T | Promise<T>
  volume: (volume: BootVolume, path: string) => Promise<T>
}

class MountedFileView implements FileView {
  readonly #inside: ProgramMachine
  readonly #clock: Clock

  constructor(inside: ProgramMachine, clock: Clock) {
    this.#inside = inside
    this.#clock = clock
  }

  read(path: string): Promise<Uint8Array> {
    const inside = this.#inside
    return this.#access<Uint8Array>(path, {
      writes: false,
      // The kernel generates this file at every read.
      tree: async (at) => (at === '/proc/mdstat' ? Buffer.from(await mdstat(inside)) : inside.files.read(at)),
      volume: (volume, at) => volume.read(at),
    })
  }

  write(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void> {
    return this.#access(path, {
      writes: true,
      tree: (at) => this.#inside.files.write(at, bytes, options),
      volume: async (volume, at) => {
        await makeVolumeFolders(volume, at.slice(0, at.lastIndexOf('/')))
        await volume.write(at, bytes, options)
      },
    })
  }

  mkdir(path: string, options?: { mode?: number }): Promise<void> {
    return this.#access(path, {
      writes: true,
      tree: (at) => this.#inside.files.mkdir(at, options),
      volume: (volume, at) => makeVolumeFolders(volume, at, options),
    })
  }

  remove(path: string): Promise<void> {
    return this.#access(path, {
      writes: true,
      tree: (at) => this.#inside.files.remove(at),
      volume: removeTree,
    })
  }

  async exists(path: string): Promise<boolean> {
    const isFile = await this.#access(path, {
      writes: false,
      tree: (at) => this.#inside.files.exists(at),
      volume: (volume, at) => volume.exists(at),
    })
    return isFile || (await this.#isDevice(path))
  }

  list(path: string): Promise<string[]> {
    return this.#access(path, {
      writes: false,
      tree: (at) => this.#inside.files.list(at),
      volume: (volume, at) => volume.list(at),
    })
  }

  async stat(path: string): Promise<FileStat> {
    if (await this.#isDevice(path)) return { kind: 'block device', mode: 0o660, uid: 0, gid: 6, size: 0 }
    return this.#access<FileStat>(path, {
      writes: false,
      tree: (at) => ({ ...this.#inside.files.stat(at), uid: 0, gid: 0 }),
      volume: async (volume, at) => {
        const { kind, ...stat } = await volume.stat(at)
        return { ...stat, kind: kind === 'directory' ? 'directory' : 'file' }
      },
    })
  }

  async #isDevice(path: string): Promise<boolean> {
    return (await findBlockNode(this.#inside, normalPath(path))) !== undefined
  }

  /** Runs an access on the filesystem that the path is on. */
  async #access<T>(path: string, { writes, tree, volume }: PathAccess<T>): Promise<T> {
    const normal = normalPath(path)
    const point = mountOf(this.#inside, normal)
    if (point === undefined) return tree(normal)
    const mount = this.#inside.mounts.get(point)!
    if (writes && mount.readOnly) throw fileError('EROFS', path)
    const node = await findBlockNode(this.#inside, mount.device)
    if (!node) throw fileError('EIO', path)
    const inner = normal.slice(point === '/' ? 0 : point.length) || '/'
    if (node.filesystem?.type === 'vfat')
      return volume(readOnlyFat(await FatVolume.open(node.device, node.offset)), inner)
    return withBootVolume(node.device, node.offset, this.#clock, (mounted) => volume(mounted, inner), {
      readOnly: !writes,
    })
  }
}

/** A FAT filesystem as Linux shows it, with default owners and modes. The simulated mount(8) allows it read-only. */
function readOnlyFat(fat: FatVolume): BootVolume {
  const refuse = (path: string) => Promise.reject(fileError('EROFS', path))
  return {
    read: (path) => fat.read(path),
    list: (path) => fat.list(path),
    exists: async (path) => (await fat.find(path)) !== undefined,
    stat: async (path) => {
      const entry = await fat.find(path)
      if (!entry) throw fileError('ENOENT', path)
      return { kind: entry.kind, mode: 0o755, uid: 0, gid: 0, size: entry.size }
    },
    readlink: (path) => Promise.reject(fileError('ENOENT', path)),
    write: refuse,
    create: refuse,
    mkdir: refuse,
    remove: refuse,
  }
}

/** The deepest mount point that the path is in. */
function mountOf(inside: ProgramMachine, path: string): string | undefined {
  return [...inside.mounts.keys()]
    .filter((point) => path === point || path.startsWith(point === '/' ? '/' : `${point}/`))
    .sort((a, b) => b.length - a.length)[0]
}

async function makeVolumeFolders(volume: BootVolume, path: string, options?: { mode?: number }): Promise<void> {
  if (path === '' || path === '/' || (await volume.exists(path))) return
  await makeVolumeFolders(volume, path.slice(0, path.lastIndexOf('/')))
  await volume.mkdir(path, options)
}
