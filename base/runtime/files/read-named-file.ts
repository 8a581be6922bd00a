import { close, closeSync, constants, fstat, fstatSync, open, openSync, read, readSync, type Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { UserError } from '../error.js'
import { minutes } from '../clock.js'

/** More than any config, manifest, key or list has, in bytes. */
const MAX_NAMED_FILE = 256 * 2 ** 20
/** A device such as /dev/zero is endless; a terminal gives no more than someone types. */
const MAX_DEVICE_BYTES = 8 * 2 ** 20
/** A pipe whose writer is silent for so long has none, or one that hangs; in milliseconds. */
const MAX_SILENCE = minutes(1)
const PIECE = 2 ** 16

export interface NamedFileLimits {
  /** Most bytes. */
  most?: number
  /** Longest wait for a byte of a pipe, in milliseconds. */
  silence?: number
}

/**
 * Reads a whole file that a user has named. It may be a pipe, such as bash's `<(...)` or /dev/stdin; what is endless or silent
 * is refused, and so is never waited for or taken into memory.
 *
 * @throws UserError `endless-file`, `silent-file`; also errors of the operating system
 */
export async function readNamedFile(
  path: string | URL,
  { most = MAX_NAMED_FILE, silence = MAX_SILENCE }: NamedFileLimits = {},
): Promise<Buffer> {
  // Without O_NONBLOCK a pipe without a writer holds a thread of this process until it gets one.
  const descriptor = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const pieces = new Pieces(String(path), most)
  try {
    const stats = await promisify(fstat)(descriptor)
    if (stats.isCharacterDevice()) pieces.limit(MAX_DEVICE_BYTES)
    if (stats.isFIFO() || stats.isCharacterDevice()) {
      // Loaded when first needed: a start should not pay for it.
      const stream = await streamOf(descriptor, stats, silence)
      if (stream) return await pieces.ofStream(stream, silence)
    }
  } catch (error) {
    // A stream has closed it already.
    await promisify(close)(descriptor).catch(() => {})
    throw error
  }
  try {
    return await pieces.ofFile(descriptor)
  } finally {
    await promisify(close)(descriptor)
  }
}

/** The same as text in UTF-8, without a byte order mark. */
export const readNamedText = async (path: string | URL, limits?: NamedFileLimits): Promise<string> =>
  (await readNamedFile(path, limits)).toString('utf8')

class Pieces {
  readonly #all: Buffer[] = []
  #size = 0

  constructor(
    private readonly path: string,
    private most: number,
  ) {}

  /** Lowers the number of bytes that are taken. */
  limit(most: number): void {
    this.most = Math.min(this.most, most)
  }

  #add(piece: Buffer): void {
    this.#size += piece.length
    if (this.#size > this.most)
      throw new UserError('endless-file', `${this.path} has more than ${sizeOf(this.most)}`, {
        kind: 'usage',
        remedy: 'name a smaller file, or one that ends',
      })
    this.#all.push(piece)
  }

  async ofFile(descriptor: number): Promise<Buffer> {
    for (;;) {
      const { bytesRead, buffer } = await promisify(read)(descriptor, Buffer.allocUnsafe(PIECE), 0, PIECE, null)
      if (bytesRead === 0) return this.whole()
      this.#add(buffer.subarray(0, bytesRead))
    }
  }

  whole(): Buffer {
    return Buffer.concat(this.#all)
  }

  ofFileSync(descriptor: number, isPipe: boolean): void {
    for (let looks = 0; ;) {
      const buffer = Buffer.allocUnsafe(PIECE)
      const length = readIfReady(descriptor, buffer)
      if (length > 0) {
        this.#add(buffer.subarray(0, length))
        looks = 0
        continue
      }
      const isOver = length === 0 && (!isPipe || this.#size > 0)
      if (isOver || ++looks > (length === 0 ? LOOKS_WHEN_EMPTY : MAX_SILENCE / PAUSE)) {
        if (length < 0) throw silent(this.path, MAX_SILENCE)
        return
      }
      sleepSync(PAUSE)
    }
  }

  ofStream(stream: Socket, silence: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        stream.destroy()
        reject(error)
      }
      stream.on('data', (piece: Buffer) => {
        try {
          this.#add(piece)
        } catch (error) {
          fail(error as Error)
        }
      })
      stream.on('timeout', () => fail(silent(this.path, silence)))
      stream.on('error', fail)
      stream.on('end', () => {
        stream.destroy()
        resolve(this.whole())
      })
    })
  }
}

/** A pipe or a terminal, whose bytes come when they come; undefined for other devices. People at a terminal may take their time. */
async function streamOf(descriptor: number, stats: Stats, silence: number): Promise<Socket | undefined> {
  if (stats.isFIFO()) {
    const { Socket } = await import('node:net')
    return new Socket({ fd: descriptor, readable: true, writable: false }).setTimeout(silence)
  }
  const { isatty, ReadStream } = await import('node:tty')
  return isatty(descriptor) ? new ReadStream(descriptor) : undefined
}

/** -1 where a pipe has nothing yet. */
function readIfReady(descriptor: number, buffer: Buffer): number {
  try {
    return readSync(descriptor, buffer)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return -1
    throw error
  }
}

const silent = (path: string, silence: number): UserError =>
  new UserError('silent-file', `nothing has come from ${path} for ${silence / 1000} s`, {
    kind: 'usage',
    remedy: 'name a file, or a pipe whose program writes and ends',
  })

const sizeOf = (bytes: number): string => (bytes >= 2 ** 20 ? `${Math.floor(bytes / 2 ** 20)} MiB` : `${bytes} bytes`)

/** Between two looks at a pipe, and how many looks an empty pipe gets: its writer may come later. */
const PAUSE = 50
const LOOKS_WHEN_EMPTY = 100

/** {@link readNamedFile} for a caller that cannot wait; this thread stands still meanwhile. */
export function readNamedFileSync(path: string, most = MAX_NAMED_FILE): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const pieces = new Pieces(path, most)
  try {
    const isPipe = fstatSync(descriptor).isFIFO()
    pieces.ofFileSync(descriptor, isPipe)
    return pieces.whole()
  } finally {
    closeSync(descriptor)
  }
}

const sleepSync = (milliseconds: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

/**
 * Refuses what stands in the place of a file and is none: it may have no end, and a pipe is opened when its other end is, which
 * may be never. Disks and folders pass.
 *
 * @throws UserError `special-file`
 */
export function refuseSpecialFile(path: string, stats: Stats): void {
  if (stats.isFile() || stats.isDirectory() || stats.isBlockDevice()) return
  const what = stats.isFIFO() ? 'a pipe' : stats.isSocket() ? 'a socket' : 'a device'
  throw new UserError('special-file', `${path} is ${what}, not a file`, {
    kind: 'usage',
    remedy: 'name a regular file; in an ironstage folder, remove the object',
  })
}

/**
 * Looks through a folder in which a program keeps files of its own, before it opens any.
 *
 * @throws UserError `special-file`
 */
export async function refuseSpecialFiles(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const path = join(folder, name)
    const stats = await stat(path).catch(() => null)
    if (stats) refuseSpecialFile(path, stats)
  }
}
