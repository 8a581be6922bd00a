import { createHash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isDiskFull, withWorkStopped, type Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'

/** A write that waits, or a range that is to read as zeros. */
interface WaitingWrite {
  readonly offset: number
  readonly length: number
  /** Undefined for zeros. */
  readonly bytes: Uint8Array | undefined
}

/**
 * Writes of one edit of a file system. They reach the disk's file together: a process that is killed meanwhile leaves all of
 * them or none, where a real computer's file system would have its journal.
 */
export class DiskEdit {
  readonly #writes: WaitingWrite[] = []

  write(offset: number, bytes: Uint8Array): void {
    this.#writes.push({ offset, length: bytes.length, bytes: Uint8Array.from(bytes) })
  }

  discard(offset: number, length: number): void {
    this.#writes.push({ offset, length, bytes: undefined })
  }

  /** Bytes that were read from the file, with what waits over them. */
  over(offset: number, found: Uint8Array): Uint8Array {
    const end = offset + found.length
    for (const { offset: at, length, bytes } of this.#writes) {
      const from = Math.max(at, offset)
      const to = Math.min(at + length, end)
      if (from >= to) continue
      if (bytes) found.set(bytes.subarray(from - at, to - at), from - offset)
      else found.fill(0, from - offset, to - offset)
    }
    return found
  }

  /** Writes all to the disk. The file beside it makes that happen also after a kill. */
  async carryOut(disk: SimulatedDisk, path: string, clock: Clock): Promise<void> {
    // One write is whole or not there by itself.
    const isStored = this.#writes.length > 1 && (await storeEdit(path, this.#writes, clock))
    try {
      await apply(this.#writes, disk)
    } finally {
      // The machine hears of a write that failed, so no later process may carry it out.
      if (isStored) await dropEdit(path, clock)
    }
  }
}

/** Carries out the edit of a process that was killed in the middle. */
export async function finishEdit(disk: SimulatedDisk, path: string, clock: Clock): Promise<void> {
  const stored = await withWorkStopped(clock, `looking for an edit of ${path}`, () => readEdit(path))
  if (!stored) return
  await apply(stored, disk)
  await dropEdit(path, clock)
}

/** Removes the edit of a disk that is emptied. */
export const dropEdit = (path: string, clock: Clock): Promise<void> =>
  withWorkStopped(clock, `removing the edit of ${path}`, () => rm(editOf(path), { force: true }))

const editOf = (path: string): string => `${path}.edit`

async function apply(writes: readonly WaitingWrite[], disk: SimulatedDisk): Promise<void> {
  for (const { offset, length, bytes } of writes)
    await (bytes ? disk.write(offset, bytes) : disk.discard(offset, length))
}

/**
 * Stores a line with the digest of all that follows, a line with the places, and the bytes.
 *
 * @returns false where the host's file system has no room for them beside the disk
 */
async function storeEdit(path: string, writes: readonly WaitingWrite[], clock: Clock): Promise<boolean> {
  const places = JSON.stringify(writes.map(({ offset, length, bytes }) => [offset, length, bytes ? 1 : 0]))
  const content = Buffer.concat([Buffer.from(`${places}\n`), ...writes.flatMap(({ bytes }) => bytes ?? [])])
  const whole = Buffer.concat([Buffer.from(`${digestOf(content)}\n`), content])
  return withWorkStopped(clock, `storing an edit of ${path}`, async () => {
    const unfinished = `${editOf(path)}.new`
    try {
      await writeFile(unfinished, whole, { mode: 0o600 })
      await rename(unfinished, editOf(path))
      return true
    } catch (error) {
      await rm(unfinished, { force: true })
      if (isDiskFull(error)) return false
      throw error
    }
  })
}

/** The writes that wait beside a disk; undefined without a file of them, and none of one that is not whole. */
async function readEdit(path: string): Promise<WaitingWrite[] | undefined> {
  const whole = await readFile(editOf(path)).catch(() => undefined)
  if (!whole) return undefined
  const first = whole.indexOf(NEWLINE)
  const content = whole.subarray(first + 1)
  if (whole.toString('latin1', 0, first) !== digestOf(content)) return []
  const second = content.indexOf(NEWLINE)
  const places = JSON.parse(content.toString('utf8', 0, second)) as [offset: number, length: number, hasBytes: 0 | 1][]
  let at = second + 1
  return places.map(([offset, length, hasBytes]) => {
    const bytes = hasBytes ? content.subarray(at, (at += length)) : undefined
    return { offset, length, bytes }
  })
}

const NEWLINE = '\n'.charCodeAt(0)

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
