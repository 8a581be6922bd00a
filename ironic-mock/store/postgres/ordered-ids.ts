import type { NewIds } from '../write.js'

/** Effects of one commit; more than one ever has. */
const EFFECTS_OF_COMMIT = 1024

/**
 * Ids of the new records of one commit. As upstream's, they are counted by the database, so that lists have the records of
 * all processes in the order in which they were made.
 */
export class OrderedIds implements NewIds {
  #ids: readonly number[] = []
  #given = 0

  /** Ids that were asked for and are not there: a stand-in was given, which must not be stored. */
  get missing(): number {
    return Math.max(0, this.#given - this.#ids.length)
  }

  /** How many of the ids are used. */
  get used(): number {
    return Math.min(this.#given, this.#ids.length)
  }

  /** Begins to work a commit out, with ids that no other record has. */
  set(ids: readonly number[]): void {
    this.#ids = ids
    this.#given = 0
  }

  node = (): number => this.#next()
  port = (): number => this.#next()
  resource = (): number => this.#next()

  /** The node's revision orders its effects, also those that different processes queue. */
  effect = (revision: number, place: number): number => revision * EFFECTS_OF_COMMIT + place

  #next(): number {
    const place = this.#given++
    return this.#ids[place] ?? -this.#given
  }
}
