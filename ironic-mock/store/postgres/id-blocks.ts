import type { NewIds } from '../write.js'

/** Ids that a process reserves at once; the sequence `record_ids` moves by as many. */
const BLOCK = 256

/** Effects of one commit; more than one ever has. */
const EFFECTS_OF_COMMIT = 1024

/** Thrown when a write needs more ids than are reserved. */
export class OutOfIds extends Error {
  override name = 'OutOfIds'
}

/** Ids of new records, which no other process gives to any of its own. */
export class IdBlocks implements NewIds {
  readonly #blocks: { next: number; readonly end: number }[] = []

  /** Adds blocks that begin after these values of the sequence. */
  add(starts: readonly number[]): void {
    for (const next of starts) this.#blocks.push({ next, end: next + BLOCK })
  }

  node = (): number => this.#next()
  port = (): number => this.#next()
  resource = (): number => this.#next()

  /** The node's revision orders its effects, also those that different processes queue. */
  effect = (revision: number, place: number): number => revision * EFFECTS_OF_COMMIT + place

  #next(): number {
    const block = this.#blocks[0]
    if (!block) throw new OutOfIds()
    const id = block.next++
    if (block.next === block.end) this.#blocks.shift()
    return id
  }
}
