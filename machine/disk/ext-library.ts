import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { ExtDisk, ExtLibrary } from 'ext2fs/lib/libext2fs.js'
import { loadPackage } from '../../base/runtime/index.js'

/** Flags of {@link ExtFilesystem.open}, and kinds of files, as the library has them. */
export const EXT = {
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_CREAT: 64,
  O_EXCL: 128,
  O_TRUNC: 512,
  O_NOFOLLOW: 131072,
  S_IFMT: 61440,
  S_IFDIR: 16384,
  S_IFLNK: 40960,
} as const

/** An error of the library, with its errno and its name, which is `UNKNOWN` for those of libext2fs. */
export class ExtError extends Error {
  override name = 'ExtError'
  constructor(
    readonly errno: number,
    readonly code: string,
    call: string,
  ) {
    super(`${call} ${code} (${errno})`)
  }
}

export interface ExtStats {
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly size: number
}

/**
 * The library's WebAssembly, without the package's own layer in JavaScript, which makes a filesystem's ninety functions anew
 * at each mount, and a queue entry for each byte that it allocates. Only one call may be under way at a time.
 */
export interface LoadedExt {
  mount(disk: ExtDisk): Promise<ExtFilesystem>
}

/** Loads half a megabyte of WebAssembly, at each call. */
export function loadExt(): LoadedExt {
  const events = ['uncaughtException', 'unhandledRejection'] as const
  const before = events.map((event) => process.listeners(event as 'uncaughtException'))
  const require = createRequire(import.meta.url)
  const folder = dirname(loadPackage('ext2fs', () => require.resolve('ext2fs')))
  for (const file of Object.keys(require.cache)) if (file.startsWith(folder)) delete require.cache[file]
  const library = require('ext2fs/lib/libext2fs.js') as ExtLibrary
  const ready = new Promise<void>((resolve) => (library.onRuntimeInitialized = resolve))
  const { ERRNO_TO_CODE } = require('ext2fs/lib/wasi.js') as { ERRNO_TO_CODE: Readonly<Record<number, string>> }
  // Emscripten's start-up code installs handlers for uncaught errors of the whole process: remove them.
  for (const [index, event] of events.entries())
    for (const listener of process.listeners(event as 'uncaughtException'))
      if (!before[index]!.includes(listener)) process.removeListener(event, listener)

  const checked = (call: string, result: number): number => {
    if (result < 0) throw new ExtError(-result, ERRNO_TO_CODE[-result] ?? 'UNKNOWN', call)
    return result
  }
  const call: LibraryCall = async (name, ...args) =>
    checked(name, await library.ccall(`node_ext2fs_${name}`, 'number', NUMBERS, args, { async: true }))
  return {
    mount: async (disk) => {
      await ready
      const id = library.setObject(disk)
      try {
        return new ExtFilesystem(library, call, checked, { id, pointer: await call('mount', id) })
      } catch (error) {
        library.deleteObject(id)
        throw error
      }
    },
  }
}

/** Types of the arguments: all are numbers, which pass as they are. */
const NUMBERS: readonly string[] = []

/** Calls a function of the library that may read or write the disk. */
type LibraryCall = (name: string, ...args: number[]) => Promise<number>

/** A mounted filesystem. */
export class ExtFilesystem {
  readonly #open = new Set<number>()

  constructor(
    private readonly library: ExtLibrary,
    private readonly call: LibraryCall,
    private readonly checked: (call: string, result: number) => number,
    private readonly disk: { readonly id: number; readonly pointer: number },
  ) {}

  /** @returns the number of a descriptor */
  async open(path: string, flags: number, mode: number): Promise<number> {
    const fd = await this.#onPath('open', path, flags, mode)
    this.#open.add(fd)
    return fd
  }

  async close(fd: number): Promise<void> {
    await this.call('close', fd)
    this.#open.delete(fd)
  }

  /** The inode of an open file is in memory. */
  stat(fd: number): ExtStats {
    const { checked, library } = this
    return {
      mode: checked('stat', library._node_ext2fs_stat_i_mode(fd)),
      uid: checked('stat', library._node_ext2fs_stat_i_uid(fd)),
      gid: checked('stat', library._node_ext2fs_stat_i_gid(fd)),
      size: checked('stat', library._node_ext2fs_stat_i_size(fd)),
    }
  }

  /** Reads up to `length` bytes. */
  read(fd: number, flags: number, length: number, position: number): Promise<Buffer> {
    return this.#withMemory(length, async (pointer) => {
      const count = await this.call('read', fd, flags, pointer, length, position)
      return Buffer.from(this.library.getBuffer(pointer, count))
    })
  }

  /** @returns how many bytes were written */
  write(fd: number, flags: number, bytes: Uint8Array, position: number): Promise<number> {
    return this.#withMemory(bytes.length, (pointer) => {
      this.library.getBuffer(pointer, bytes.length).set(bytes)
      return this.call('write', fd, flags, pointer, bytes.length, position)
    })
  }

  chmod(fd: number, mode: number): Promise<unknown> {
    return this.call('chmod', fd, mode)
  }

  chown(fd: number, uid: number, gid: number): Promise<unknown> {
    return this.call('chown', fd, uid, gid)
  }

  mkdir(path: string, mode: number): Promise<unknown> {
    return this.#onPath('mkdir', path, mode)
  }

  rmdir(path: string): Promise<unknown> {
    return this.#onPath('rmdir', path)
  }

  unlink(path: string): Promise<unknown> {
    return this.#onPath('unlink', path)
  }

  readdir(path: string): Promise<string[]> {
    return this.#listed('readdir', path)
  }

  async readlink(path: string): Promise<string> {
    const [target] = await this.#listed('readlink', path)
    return target!
  }

  async unmount(): Promise<void> {
    for (const fd of this.#open) await this.close(fd)
    await this.call('umount', this.disk.pointer)
    this.library.deleteObject(this.disk.id)
  }

  /** Calls a function that puts names into a list. */
  async #listed(name: string, path: string): Promise<string[]> {
    const names: Buffer[] = []
    const id = this.library.setObject(names)
    try {
      await this.#onPath(name, path, id)
    } finally {
      this.library.deleteObject(id)
    }
    return names.map((found) => found.toString())
  }

  #onPath(name: string, path: string, ...more: number[]): Promise<number> {
    if (path.includes('\0')) throw Object.assign(new Error('a path cannot have a null byte'), { code: 'ENOENT' })
    const bytes = Buffer.from(`${path.replace(/\/+$/, '')}\0`)
    return this.#withMemory(bytes.length, (pointer) => {
      this.library.getBuffer(pointer, bytes.length).set(bytes)
      return this.call(name, this.disk.pointer, pointer, ...more)
    })
  }

  /** Memory of the library for one call. */
  async #withMemory<T>(length: number, use: (pointer: number) => Promise<T>): Promise<T> {
    const pointer = this.library._malloc_from_js(length)
    try {
      return await use(pointer)
    } finally {
      this.library._free_from_js(pointer)
    }
  }
}
