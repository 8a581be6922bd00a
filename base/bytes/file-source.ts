import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { withWorkStopped, refuseSpecialFile, type Clock } from '../runtime/index.js'
import type { ByteSource, Patch } from './byte-source.js'

/** A file with random access, whose ranges can be overwritten in place. */
export interface FileSource extends ByteSource, AsyncDisposable {
  /** Writes in the order of the call, then waits until the disk has the bytes. Only for a file that was opened for writing. */
  replace(patches: readonly Patch[]): Promise<void>
}

/**
 * Opens a file; it is never created.
 *
 * @throws what the operating system says: ENOENT ...
 */
export async function openFileSource(path: string, clock: Clock, change = false): Promise<FileSource> {
  const io = <T>(work: () => Promise<T>): Promise<T> => withWorkStopped(clock, `reading or writing ${path}`, work)
  const { file, size } = await io(async () => {
    // A pipe would be opened when its other end is.
    const opened = await open(path, (change ? constants.O_RDWR : constants.O_RDONLY) | constants.O_NONBLOCK)
    try {
      refuseSpecialFile(path, await opened.stat())
      return { file: opened, size: await readFileSize(opened) }
    } catch (error) {
      await opened.close()
      throw error
    }
  })
  return {
    size,
    read: (offset, length) => io(() => readAt(file, offset, length)),
    replace: (patches) =>
      io(async () => {
        for (const { offset, bytes } of patches) await writeAt(file, offset, bytes)
        await file.datasync()
      }),
    [Symbol.asyncDispose]: () => io(() => file.close()),
  }
}

async function readFileSize(file: FileHandle): Promise<number> {
  const found = await file.stat()
  // coreos-installer finds out by reading.
  if (found.isDirectory()) await file.read(Buffer.alloc(1), 0, 1, 0)
  return found.size
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

async function writeAt(file: FileHandle, offset: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten
}
