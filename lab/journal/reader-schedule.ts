import { onAbort, systemClock } from '../../base/runtime/index.js'

/** Milliseconds of wall time after which a reader that waits for entries is woken without one. */
const JOURNAL_KEEPALIVE_INTERVAL = 15_000

/**
 * Readers from which on they get a sixteenth of the time; fewer get more, up to half for one. A round of more readers takes
 * longer, so that each gets more entries at once: it is the number of writes to sockets that costs.
 */
const MAX_COUNTED_READERS = 15

/** Milliseconds that readers may take at a stretch: requests wait meanwhile. */
const MAX_READ_STRETCH = 3

/** Steps of promises after which all whom a turn has woken have come to their next wait. */
const MAX_WAKE_STEPS = 64

/** A reader of the journal, for as long as it reads. */
export interface ScheduledReader {
  /** Readers with the same key want the same entries: they are woken one after the other, so that they share what is made of them. */
  readonly key: string
  /** True if it waits for its turn: it is behind a socket. */
  readonly isPatient: boolean
  /** True if there is something for it. It passes over the entries that it does not want, which costs less than to wake it. */
  hasMore(): boolean
}

interface WaitingReader {
  readonly reader: ScheduledReader
  wake(): void
}

/**
 * Wakes readers that wait for entries. Those behind sockets take turns of a few at a time, and the pause after a turn grows
 * with the time that it took: any number of them leaves the lab most of its time. A reader in this process is woken at
 * once, since lab time goes on meanwhile.
 */
export class ReaderSchedule {
  readonly #wall = systemClock()
  readonly #here = new Set<WaitingReader>()
  /** Readers of the present round who have not had their turn. */
  #next = new ReaderGroups()
  #later = new ReaderGroups()
  #isQuietSet = false
  #isNew = false
  /** True if those for whom there is nothing are woken too, in the next round and in this one. */
  #isQuiet = false
  #wakesAll = false
  #isDue = false
  /** Milliseconds that a reader takes. */
  #each = 1
  /** The end of the pause, on the wall. */
  #until = 0

  /** There is something new to read. */
  ring(): void {
    if (this.#here.size > 0) {
      const here = [...this.#here]
      this.#here.clear()
      for (const { wake } of here) wake()
    }
    this.#isNew = true
    if (!this.#isDue) this.#schedule()
  }

  /**
   * Lets a reader wait until it is disposed of, or the signal aborts. Its `wait` resolves when there is something for it,
   * after a while without, or at that end.
   */
  enter(reader: ScheduledReader, signal: AbortSignal): ReaderPlace {
    let woken = (): void => {}
    const waiting: WaitingReader = { reader, wake: () => woken() }
    const leave = (): void => {
      this.#here.delete(waiting)
      this.#next.delete(waiting)
      this.#later.delete(waiting)
      woken()
    }
    const ending = onAbort(signal, leave)
    return {
      wait: async (isBehind) => {
        if (signal.aborted || (isBehind && !reader.isPatient)) return
        const waits = new Promise<void>((resolve) => (woken = resolve))
        if (reader.isPatient) this.#later.add(waiting)
        else this.#here.add(waiting)
        if (isBehind) this.ring()
        else this.#wakeIfQuiet()
        await waits
      },
      [Symbol.dispose]: () => ending[Symbol.dispose](),
    }
  }

  #schedule(): void {
    if (this.#next.isEmpty && !(this.#isNew && !this.#later.isEmpty)) return
    this.#isDue = true
    const pause = this.#until - this.#wall.elapsed()
    const begin = (): void => void this.#turn()
    if (pause <= 1) setImmediate(begin)
    else this.#wall.sleep(pause, { weak: true }).then(begin, () => {})
  }

  async #turn(): Promise<void> {
    const began = this.#wall.elapsed()
    if (this.#next.isEmpty) {
      this.#next = this.#later
      this.#later = new ReaderGroups()
      this.#isNew = false
      this.#wakesAll = this.#isQuiet
      this.#isQuiet = false
    }
    const readers = this.#next.size + this.#later.size
    const woken = this.#wakeSome(Math.max(1, Math.floor(MAX_READ_STRETCH / this.#each)))
    for (let step = 0; step < MAX_WAKE_STEPS; step++) await Promise.resolve()
    // Sockets send at the end of a tick what was written to them.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const now = this.#wall.elapsed()
    if (woken > 0) this.#each = Math.max(0.001, (now - began) / woken)
    this.#until = now + (now - began) * Math.min(MAX_COUNTED_READERS, readers)
    this.#isDue = false
    this.#schedule()
  }

  /** Wakes readers of the round for whom there is something. Returns how many. */
  #wakeSome(most: number): number {
    let woken = 0
    for (const waiting of this.#next.all()) {
      if (woken === most) break
      this.#next.delete(waiting)
      if (this.#wakesAll || waiting.reader.hasMore()) {
        waiting.wake()
        woken++
      } else this.#later.add(waiting)
    }
    return woken
  }

  /** One timer serves all readers: each is woken after a while, though a little sooner or later. */
  #wakeIfQuiet(): void {
    if (this.#isQuietSet) return
    this.#isQuietSet = true
    this.#wall.sleep(JOURNAL_KEEPALIVE_INTERVAL, { weak: true }).then(
      () => {
        this.#isQuietSet = false
        this.#isQuiet = true
        this.ring()
      },
      () => {},
    )
  }
}

/** The place of a reader in the schedule. */
export interface ReaderPlace extends Disposable {
  /** @param isBehind whether there is something new already */
  wait(isBehind: boolean): Promise<void>
}

/** Readers by their keys. */
class ReaderGroups {
  readonly #groups = new Map<string, Set<WaitingReader>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }

  add(waiting: WaitingReader): void {
    const { key } = waiting.reader
    const group = this.#groups.get(key) ?? new Set()
    if (!group.has(waiting)) this.#size++
    group.add(waiting)
    this.#groups.set(key, group)
  }

  delete(waiting: WaitingReader): void {
    const { key } = waiting.reader
    const group = this.#groups.get(key)
    if (!group?.delete(waiting)) return
    this.#size--
    if (group.size === 0) this.#groups.delete(key)
  }

  /** Those of one key one after the other. Readers may be deleted meanwhile. */
  *all(): Generator<WaitingReader> {
    for (const group of this.#groups.values()) yield* group
  }
}
