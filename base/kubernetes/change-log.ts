import { expiredRefusal } from './refusals.js'
import type { Stored } from './stored-object.js'

/** A write of an object. */
export interface ObjectChange {
  resourceVersion: number
  /** Undefined for an object that has come into being. */
  before: Stored | undefined
  after: Stored
  isDeleted: boolean
}

/** A change that is remembered, with the characters that only it has. */
type Remembered = ObjectChange & { size: number }

/** Number of changes that are remembered for watches: this many at least, unless they are large. */
const MIN_REMEMBERED_CHANGES = 1_000
/** Characters of the changes of a kind that are remembered, at most about. */
const MAX_REMEMBERED_CHARACTERS = 32 * 1024 * 1024

/** Characters of a value; what an earlier object has too costs nothing. */
function countCharacters(value: unknown, before: unknown): number {
  if (value === before) return 0
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  const known = (typeof before === 'object' && before !== null ? before : {}) as Record<string, unknown>
  return Object.entries(value).reduce(
    (size, [name, member]) => size + name.length + countCharacters(member, known[name]),
    0,
  )
}

/**
 * The latest changes of a kind, in their order. A watch reads it at its own speed and has no queue of its own: one that
 * falls behind what is remembered ends as expired, and costs nothing until then.
 */
export class ChangeLog {
  #changes: Remembered[] = []
  #size = 0
  /** Number of dropped changes, and the resourceVersion of the last of them. */
  #forgotten = 0
  #forgottenUpTo = 0
  #waiting: (() => void)[] = []
  #isOver = false

  /** Begins after a version: changes up to it were those of another process. */
  beginAfter(resourceVersion: number): void {
    this.#forgottenUpTo = resourceVersion
  }

  /** @param objects how many of the kind there are: a watch must not expire because each of them changes at once */
  add(change: ObjectChange, objects: number): void {
    const size = countCharacters(change.after, change.before)
    this.#changes.push({ ...change, size })
    this.#size += size
    const most = Math.max(MIN_REMEMBERED_CHANGES, 2 * objects)
    // Many at once: the list moves as a whole.
    if (this.#changes.length > 2 * most) this.#forget(this.#changes.length - most)
    else if (this.#size > MAX_REMEMBERED_CHARACTERS) this.#forget(this.#changes.length >>> 1)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #forget(count: number): void {
    const gone = this.#changes.splice(0, count)
    if (gone.length === 0) return
    for (const { size } of gone) this.#size -= size
    this.#forgotten += gone.length
    this.#forgottenUpTo = gone.at(-1)!.resourceVersion
  }

  /**
   * The position after a resourceVersion.
   *
   * @throws KubeRefusal 410 when later changes have been forgotten
   */
  positionAfter(resourceVersion: number): number {
    if (resourceVersion < this.#forgottenUpTo) throw expiredRefusal(resourceVersion, this.#forgottenUpTo)
    let from = 0
    let to = this.#changes.length
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#changes[middle]!.resourceVersion <= resourceVersion) from = middle + 1
      else to = middle
    }
    return this.#forgotten + from
  }

  /**
   * The change at a position; undefined when it has not happened yet.
   *
   * @param since resourceVersion of the change before it, for the refusal
   * @throws KubeRefusal 410 when it has been forgotten
   */
  at(position: number, since: number): ObjectChange | undefined {
    if (position < this.#forgotten) throw expiredRefusal(since, this.#forgottenUpTo)
    return this.#changes[position - this.#forgotten]
  }

  /**
   * The changes after a resourceVersion.
   *
   * @throws KubeRefusal 410 when one of them has been forgotten
   */
  changesAfter(resourceVersion: number): ObjectChange[] {
    return this.#changes.slice(this.positionAfter(resourceVersion) - this.#forgotten)
  }

  /** True once the kind has gone: there are no more changes. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Ends all watches: the kind has gone. */
  end(): void {
    this.#isOver = true
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Calls `wake` once, at the next change. */
  onNext(wake: () => void): Disposable {
    this.#waiting.push(wake)
    return {
      [Symbol.dispose]: () => {
        const index = this.#waiting.indexOf(wake)
        if (index >= 0) this.#waiting.splice(index, 1)
      },
    }
  }
}
