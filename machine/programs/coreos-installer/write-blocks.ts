import { open, type FileHandle } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { withClockHeld, type Clock } from '../../../base/runtime/index.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { unxzBlock, type XzBlock, type XzIndex } from '../../../base/bytes/index.js'
import type { Pacer } from './pacer.js'

const FILE_READ_BYTES = 128 * 1024
/** Limit on workers: Node's pool has four threads for both decoders and file accesses. */
const MAX_BLOCK_WORKERS = 3

export interface BlockWriting {
  path: string
  index: XzIndex
  device: SimulatedDisk
  /** Offset in the image from which bytes are written. */
  from: number
  clock: Clock
  pacer: Pacer
  /** Called with the number of compressed bytes that were read. */
  read: (position: number) => void
}

/**
 * Decompresses the blocks of an .xz file in parallel and writes them in their order, so that no bytes after damage are
 * written. The decoder from npm is compiled without optimisation and takes twice the time of xz; on two cores this
 * makes up for it.
 */
export async function writeBlocks(work: BlockWriting): Promise<void> {
  const { path, index, clock } = work
  const file = await withClockHeld(clock, `opening ${path}`, () => open(path, 'r'))
  try {
    const shared: SharedWriteState = {
      file,
      left: [...index.blocks],
      order: new WriteOrder(),
      read: 0,
      written: work.from,
      failed: false,
    }
    const workers = Math.min(MAX_BLOCK_WORKERS, availableParallelism(), index.blocks.length)
    const outcomes = await Promise.allSettled(Array.from({ length: workers }, () => worker(work, shared)))
    // Wait until all workers have stopped: only then may the caller write to the disk.
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  } finally {
    await withClockHeld(clock, `closing ${path}`, () => file.close())
  }
}

/** Limit on the decompressed bytes of a block that wait for earlier blocks. */
const MAX_DECODED_AHEAD = 32 * 1024 * 1024

/** Lets blocks be written one after another. */
class WriteOrder {
  readonly #waiting = new Map<number, () => void>()
  #next = 0
  #over = false

  mayWrite(block: number): boolean {
    return this.#over || block <= this.#next
  }

  whenMayWrite(block: number): Promise<void> {
    return this.mayWrite(block) ? Promise.resolve() : new Promise((resolve) => this.#waiting.set(block, resolve))
  }

  written(block: number): void {
    this.#next = block + 1
    this.#waiting.get(this.#next)?.()
  }

  /** Ends all waiting after a failure; the workers then check `failed`. */
  end(): void {
    this.#over = true
    for (const go of this.#waiting.values()) go()
  }
}

interface SharedWriteState {
  file: FileHandle
  left: XzBlock[]
  order: WriteOrder
  read: number
  written: number
  failed: boolean
}

async function worker(work: BlockWriting, shared: SharedWriteState): Promise<void> {
  try {
    for (let block = shared.left.shift(); block && !shared.failed; block = shared.left.shift())
      await writeBlock(work, shared, block)
  } catch (error) {
    shared.failed = true
    shared.order.end()
    throw error
  }
}

async function writeBlock(work: BlockWriting, shared: SharedWriteState, block: XzBlock): Promise<void> {
  const { device, from, pacer, index, clock } = work
  const { order } = shared
  const place = index.blocks.indexOf(block)
  let offset = block.outputOffset
  let ahead: Uint8Array[] = []
  let waiting = 0
  const write = async () => {
    await order.whenMayWrite(place)
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
      if (order.mayWrite(place) || waiting >= MAX_DECODED_AHEAD) await write()
    }
  } finally {
    // After damage too, write the bytes before it, once the earlier blocks are written.
    await write()
  }
  order.written(place)
}

/** The compressed bytes of a block. */
async function* stored({ path, clock, read }: BlockWriting, shared: SharedWriteState, block: XzBlock) {
  for (let at = 0; at < block.length;) {
    const length = Math.min(FILE_READ_BYTES, block.length - at)
    const bytes = await withClockHeld(clock, `reading ${path}`, async () => {
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
