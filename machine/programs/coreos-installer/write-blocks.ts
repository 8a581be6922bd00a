import { open, type FileHandle } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { held, type Clock } from '../../../runtime/index.js'
import type { BlockDevice } from '../../disk/block-device.js'
import { unxzBlock, type XzBlock, type XzIndex } from '../../../bytes/index.js'
import type { Pacer } from './pacer.js'

const READ = 128 * 1024
/** Node's pool has four threads for decoders and file accesses alike. */
const MOST_WORKERS = 3

export interface BlockWriting {
  path: string
  index: XzIndex
  device: BlockDevice
  /** What lies before this is left out. */
  from: number
  clock: Clock
  pacer: Pacer
  /** Told how many compressed bytes were read in all. */
  read: (position: number) => void
}

/**
 * Decompresses the blocks of an .xz file side by side and writes them in their order, so that nothing behind damage
 * reaches the disk. The decoder that npm ships is compiled without optimisation and takes twice the time of xz; with two
 * cores this makes up for it.
 */
export async function writeBlocks(work: BlockWriting): Promise<void> {
  const { path, index, clock } = work
  const file = await held(clock, `opening ${path}`, () => open(path, 'r'))
  try {
    const shared: Shared = {
      file,
      left: [...index.blocks],
      order: new Order(),
      read: 0,
      written: work.from,
      failed: false,
    }
    const workers = Math.min(MOST_WORKERS, availableParallelism(), index.blocks.length)
    const outcomes = await Promise.allSettled(Array.from({ length: workers }, () => worker(work, shared)))
    // Only when all have stopped may anything else write to the disk.
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  } finally {
    await held(clock, `closing ${path}`, () => file.close())
  }
}

/** So much of a block is decompressed before those in front of it are written. */
const MOST_AHEAD = 32 * 1024 * 1024

/** Who writes: one block after another. */
class Order {
  readonly #waiting = new Map<number, () => void>()
  #next = 0
  #over = false

  mayWrite(block: number): boolean {
    return this.#over || block <= this.#next
  }

  turnOf(block: number): Promise<void> {
    return this.mayWrite(block) ? Promise.resolve() : new Promise((resolve) => this.#waiting.set(block, resolve))
  }

  written(block: number): void {
    this.#next = block + 1
    this.#waiting.get(this.#next)?.()
  }

  /** Nothing more is written: those that wait have to look why. */
  end(): void {
    this.#over = true
    for (const go of this.#waiting.values()) go()
  }
}

interface Shared {
  file: FileHandle
  left: XzBlock[]
  order: Order
  read: number
  written: number
  failed: boolean
}

async function worker(work: BlockWriting, shared: Shared): Promise<void> {
  try {
    for (let block = shared.left.shift(); block && !shared.failed; block = shared.left.shift())
      await writeBlock(work, shared, block)
  } catch (error) {
    shared.failed = true
    shared.order.end()
    throw error
  }
}

async function writeBlock(work: BlockWriting, shared: Shared, block: XzBlock): Promise<void> {
  const { device, from, pacer, index, clock } = work
  const { order } = shared
  const place = index.blocks.indexOf(block)
  let offset = block.outputOffset
  let ahead: Uint8Array[] = []
  let waiting = 0
  const write = async () => {
    await order.turnOf(place)
    for (const bytes of ahead) {
      if (shared.failed) return
      const start = Math.max(0, from - offset)
      if (start < bytes.length) {
        await device.write(offset + start, bytes.subarray(start))
        shared.written += bytes.length - start
        await pacer.written(shared.written)
      }
      offset += bytes.length
    }
    ahead = []
    waiting = 0
  }
  try {
    for await (const bytes of unxzBlock(index.header, stored(work, shared, block), block.outputLength, clock)) {
      if (shared.failed) return
      ahead.push(bytes)
      waiting += bytes.length
      if (order.mayWrite(place) || waiting >= MOST_AHEAD) await write()
    }
  } finally {
    // Also what came before damage, and only then the damage itself: those in front are written whole.
    await write()
  }
  order.written(place)
}

/** The compressed bytes of a block. */
async function* stored({ path, clock, read }: BlockWriting, shared: Shared, block: XzBlock) {
  for (let at = 0; at < block.length;) {
    const length = Math.min(READ, block.length - at)
    const bytes = await held(clock, `reading ${path}`, async () => {
      const { buffer, bytesRead } = await shared.file.read(Buffer.allocUnsafe(length), 0, length, block.offset + at)
      return buffer.subarray(0, bytesRead)
    })
    if (bytes.length === 0) return
    at += bytes.length
    shared.read += bytes.length
    read(shared.read)
    yield bytes
  }
}
