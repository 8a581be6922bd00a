import type { ExtDisk } from 'ext2fs/lib/libext2fs.js'
import type { Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { EXT, ExtError, loadExt, type ExtFilesystem, type LoadedExt } from './ext-library.js'
import { filesystemFinding } from './filesystem-damage.js'
import { withExclusiveMount, type InterruptedHold } from './exclusive-mount.js'

export interface VolumeStat {
  kind: 'file' | 'directory' | 'symlink'
  /** Permission bits. */
  mode: number
  uid: number
  gid: number
  size: number
}

/** Mode and owner of a new file. The default owner is root. */
interface VolumeOwner {
  mode?: number
  uid?: number
  gid?: number
}

/**
 * The files of a mounted ext4 filesystem. Paths are absolute; symlinks in them are followed. Errors have a `code` as
 * those of node:fs (`ENOENT`, `EEXIST`, `ENOTDIR`, `ENOSPC` ...), or are the disk's own error.
 */
export interface BootVolume {
  read(path: string): Promise<Buffer>
  /** Replaces the contents of a file but not its mode and owner, or creates it (0644). */
  write(path: string, bytes: Uint8Array, owner?: VolumeOwner): Promise<void>
  /** @throws an error with code EEXIST when the name exists */
  create(path: string, bytes: Uint8Array, owner?: VolumeOwner): Promise<void>
  mkdir(path: string, owner?: VolumeOwner): Promise<void>
  /** Names in a folder, sorted, without `.` and `..`. */
  list(path: string): Promise<string[]>
  /** Status of a file; with `follow: false` that of a symlink itself. */
  stat(path: string, options?: { follow?: boolean }): Promise<VolumeStat>
  exists(path: string): Promise<boolean>
  readlink(path: string): Promise<string>
  remove(path: string): Promise<void>
}

/** Size of the pieces in which files pass through that memory. */
const VOLUME_PIECE_BYTES = 1024 * 1024
/** Limit on a file that is read: a damaged inode can have any size, and configs and boot entries are small. */
const MAX_BOOT_FILE_BYTES = 64 * 1024 * 1024
/** Limit on disk accesses of a mount, which stops circular structures. A mount with its edits needs some hundred. */
const MAX_MOUNT_ACCESSES = 50_000
/** Loaded on first use, which most processes never get to. */
let library: LoadedExt | undefined
/** Listings after which the library is reloaded: each leaks 18 KiB of its memory (measured with 4.2.5). */
const MAX_LIBRARY_LISTINGS = 400
let listings = 0

/**
 * Mounts the ext4 filesystem that begins `offset` bytes into a disk, for as long as `work` runs. Journals are neither
 * replayed nor written; the filesystem is left clean. Mounts of one process run one after another. A process that is killed
 * leaves all of an edit in a disk's file, or nothing.
 *
 * @param options.readOnly refuses every change of the disk
 * @throws what the disk threw; an error with code EINVAL when there is no ext filesystem
 * @example
 * await withBootVolume(disk, boot.offset, clock, (volume) => volume.read('/ignition/config.ign'))
 */
export function withBootVolume<T>(
  device: SimulatedDisk,
  offset: number,
  clock: Clock,
  work: (volume: BootVolume) => Promise<T>,
  options: { readOnly?: boolean } = {},
): Promise<T> {
  const { readOnly = false } = options
  return withExclusiveMount(clock, `mounting a filesystem of ${device.name}`, (held) => {
    const use = () => useMounted(new DiskAdapter(device, offset, readOnly, held), work)
    return readOnly || !device.edit ? use() : device.edit(use)
  })
}

async function useMounted<T>(disk: DiskAdapter, work: (volume: BootVolume) => Promise<T>): Promise<T> {
  if (!library) listings = 0
  const { mount } = (library ??= loadExt())
  const { name } = disk.device
  let clean = false
  try {
    const filesystem = await disk.explaining(() => naming(name, () => mount(disk)))
    let broken = false
    try {
      return await disk.explaining(() => work(new Volume(filesystem)))
    } catch (error) {
      broken = error instanceof LibraryBroken
      throw error
    } finally {
      if (!broken) {
        await disk.explaining(() => naming(name, () => filesystem.unmount()))
        clean = true
      }
    }
  } finally {
    // A failed mount or unmount leaks the library's small memory: load a new instance.
    if (!clean || listings >= MAX_LIBRARY_LISTINGS) library = undefined
  }
}

/** A folder of a volume as if it were its root. */
export function inFolder(volume: BootVolume, folder: string): BootVolume {
  if (folder === '') return volume
  const at = (path: string) => `${folder}${path}`
  return {
    read: (path) => volume.read(at(path)),
    write: (path, bytes, owner) => volume.write(at(path), bytes, owner),
    create: (path, bytes, owner) => volume.create(at(path), bytes, owner),
    mkdir: (path, owner) => volume.mkdir(at(path), owner),
    list: (path) => volume.list(at(path)),
    stat: (path, options) => volume.stat(at(path), options),
    exists: (path) => volume.exists(at(path)),
    readlink: (path) => volume.readlink(at(path)),
    remove: (path) => volume.remove(at(path)),
  }
}

/** Removes a file, or a folder with all that is in it. */
export async function removeTree(volume: BootVolume, path: string): Promise<void> {
  if ((await volume.stat(path, { follow: false })).kind === 'directory')
    for (const name of await volume.list(path)) await removeTree(volume, `${path === '/' ? '' : path}/${name}`)
  await volume.remove(path)
}

/** Records the disk's own error, which the library turns into EIO. */
class DiskAdapter implements ExtDisk {
  #failure: { error: unknown } | undefined
  #accesses = 0

  constructor(
    readonly device: SimulatedDisk,
    /** Where the filesystem begins. */
    readonly start: number,
    readonly readOnly: boolean,
    readonly held: InterruptedHold,
  ) {}

  async explaining<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.#failure ? this.#failure.error : error
    }
  }

  read(buffer: Buffer, bufferOffset: number, length: number, fileOffset: number): Promise<void> {
    return this.#noting(async () => {
      const bytes = await this.device.read(this.start + fileOffset, length)
      buffer.set(bytes, bufferOffset)
      buffer.fill(0, bufferOffset + bytes.length, bufferOffset + length)
    })
  }

  write(buffer: Buffer, bufferOffset: number, length: number, fileOffset: number): Promise<void> {
    if (this.readOnly) return Promise.resolve()
    // Copy the bytes: the buffer is a view of the library's memory, which moves when it grows.
    const bytes = Buffer.from(buffer.subarray(bufferOffset, bufferOffset + length))
    return this.#noting(() => this.device.write(this.start + fileOffset, bytes))
  }

  discard(offset: number, length: number): Promise<void> {
    if (this.readOnly) return Promise.resolve()
    return this.#noting(() => this.device.discard(this.start + offset, length))
  }

  flush(): Promise<void> {
    if (this.readOnly) return Promise.resolve()
    return this.#noting(() => this.device.flush())
  }

  async #noting(work: () => Promise<void>): Promise<void> {
    // After a failed write no later one may reach the disk, since it could depend on the failed one.
    if (this.#failure) throw this.#failure.error
    try {
      if (++this.#accesses > MAX_MOUNT_ACCESSES)
        throw new VolumeError('EUCLEAN', this.device.name, { damage: 'its structures form a cycle' })
      // A fault may delay the access.
      await this.held.without(work)
    } catch (error) {
      this.#failure = { error }
      throw error
    }
  }
}

/** An error of the filesystem, with the errno name that the machine's programs report. */
export class VolumeError extends Error {
  override name = 'VolumeError'

  constructor(
    readonly code: string,
    /** Path of the file or of the disk. */
    path: string,
    { damage }: { damage?: string | undefined } = {},
  ) {
    super(damage === undefined ? `${path}: ${code}` : `the ext4 filesystem is damaged: ${damage} (${path})`)
  }
}

/** A failure of the library after which it cannot be called again. */
class LibraryBroken extends VolumeError {
  override name = 'LibraryBroken'
}

/** Adds the path to errors of the library, which have only pointers. */
async function naming<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    // A trap of WebAssembly, or an assertion of the library.
    if (cause.name === 'RuntimeError' || /^Aborted|^abort\(/.test(cause.message))
      throw new LibraryBroken('EUCLEAN', path, { damage: 'its structures point outside the filesystem' })
    if (!(cause instanceof ExtError)) throw cause
    const finding = filesystemFinding(cause.errno)
    throw new VolumeError(finding?.code ?? cause.code, path, { damage: finding?.what })
  }
}

function fileKindOf(mode: number): VolumeStat['kind'] {
  const kind = mode & EXT.S_IFMT
  return kind === EXT.S_IFDIR ? 'directory' : kind === EXT.S_IFLNK ? 'symlink' : 'file'
}

class Volume implements BootVolume {
  constructor(readonly fs: ExtFilesystem) {}

  read(path: string): Promise<Buffer> {
    return this.#opened(path, EXT.O_RDONLY, 0, async (fd) => {
      const { mode, size } = this.fs.stat(fd)
      if (fileKindOf(mode) === 'directory') throw new VolumeError('EISDIR', path)
      if (size > MAX_BOOT_FILE_BYTES)
        throw new VolumeError('EFBIG', path, { damage: `a file claims to have ${size} bytes` })
      const parts: Buffer[] = []
      for (let at = 0; at < size;) {
        const part = await this.fs.read(fd, EXT.O_RDONLY, Math.min(VOLUME_PIECE_BYTES, size - at), at)
        if (part.length === 0) break
        parts.push(part)
        at += part.length
      }
      return Buffer.concat(parts)
    })
  }

  async write(path: string, bytes: Uint8Array, owner?: VolumeOwner): Promise<void> {
    const flags = EXT.O_WRONLY | EXT.O_TRUNC
    if (!(await this.exists(path))) return this.create(path, bytes, owner)
    await this.#opened(path, flags, 0, async (fd) => {
      await this.#put(path, fd, flags, bytes)
      await this.#own(fd, owner)
    })
  }

  async create(path: string, bytes: Uint8Array, owner: VolumeOwner = {}): Promise<void> {
    const flags = EXT.O_WRONLY | EXT.O_CREAT | EXT.O_EXCL
    if (await this.exists(path)) throw new VolumeError('EEXIST', path)
    await this.#opened(path, flags, owner.mode ?? 0o644, async (fd) => {
      await this.#put(path, fd, flags, bytes)
      await this.#own(fd, { mode: 0o644, uid: 0, gid: 0, ...owner })
    })
  }

  async mkdir(path: string, owner: VolumeOwner = {}): Promise<void> {
    if (await this.exists(path)) throw new VolumeError('EEXIST', path)
    await naming(path, () => this.fs.mkdir(path, owner.mode ?? 0o755))
    await this.#opened(path, EXT.O_RDONLY, 0, (fd) => this.#own(fd, { mode: 0o755, uid: 0, gid: 0, ...owner }))
  }

  async list(path: string): Promise<string[]> {
    listings++
    const names = await naming(path, () => this.fs.readdir(path))
    return names.filter((name) => name !== '.' && name !== '..').sort()
  }

  stat(path: string, { follow = true }: { follow?: boolean } = {}): Promise<VolumeStat> {
    return this.#opened(path, follow ? EXT.O_RDONLY : EXT.O_RDONLY | EXT.O_NOFOLLOW, 0, (fd) => {
      const { mode, uid, gid, size } = this.fs.stat(fd)
      return { kind: fileKindOf(mode), mode: mode & 0o7777, uid, gid, size }
    })
  }

  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path)
      return true
    } catch (error) {
      if (error instanceof VolumeError && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return false
      throw error
    }
  }

  readlink(path: string): Promise<string> {
    return naming(path, () => this.fs.readlink(path))
  }

  async remove(path: string): Promise<void> {
    const { kind } = await this.stat(path, { follow: false })
    const real = await this.#withRealParent(path)
    await naming(path, () => (kind === 'directory' ? this.fs.rmdir(real) : this.fs.unlink(real)))
  }

  /** Resolves links in the parent path: the library follows them when it opens a file, but not when it removes one. */
  async #withRealParent(path: string): Promise<string> {
    const names = path.split('/').filter((name) => name !== '')
    const last = names.pop() ?? ''
    let parent = ''
    for (let links = 0; names.length > 0;) {
      const next = `${parent}/${names.shift()!}`
      if ((await this.stat(next, { follow: false })).kind !== 'symlink') {
        parent = next
        continue
      }
      if (++links > 40) throw new VolumeError('ELOOP', path)
      const target = await this.readlink(next)
      if (target.startsWith('/')) parent = ''
      names.unshift(...target.split('/').filter((name) => name !== '' && name !== '.'))
    }
    return `${parent}/${last}`
  }

  async #put(path: string, fd: number, flags: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const written = await this.fs.write(fd, flags, bytes.subarray(at, at + VOLUME_PIECE_BYTES), at)
      if (written === 0) throw new VolumeError('ENOSPC', path)
      at += written
    }
  }

  async #own(fd: number, owner: VolumeOwner | undefined): Promise<void> {
    if (owner?.mode !== undefined) await this.fs.chmod(fd, owner.mode)
    if (owner?.uid !== undefined || owner?.gid !== undefined) await this.fs.chown(fd, owner.uid ?? 0, owner.gid ?? 0)
  }

  async #opened<T>(path: string, flags: number, mode: number, work: (fd: number) => T | Promise<T>): Promise<T> {
    const fd = await naming(path, () => this.fs.open(path, flags, mode))
    let broken = false
    try {
      return await naming(path, () => work(fd))
    } catch (error) {
      broken = error instanceof LibraryBroken
      throw error
    } finally {
      if (!broken) await this.fs.close(fd)
    }
  }
}
