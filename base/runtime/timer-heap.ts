/** An instant at which something is due. */
export interface Due {
  at: number
  /** Entries of one instant are due in the order in which they were set. */
  order: number
}

/** A pending sleep of a clock. */
export class Timer implements Due, Disposable {
  constructor(
    readonly at: number,
    readonly order: number,
    readonly weak: boolean,
    readonly fire: () => void,
    private readonly cancelled: (timer: Timer) => void,
  ) {}

  [Symbol.dispose](): void {
    this.cancelled(this)
  }
}

/** A binary heap by time and order, so that a lab of thousands of heartbeats stays cheap. */
export class TimerHeap<T extends Due = Timer> {
  #items: T[] = []

  get size(): number {
    return this.#items.length
  }

  /** All entries, in no order. */
  entries(): T[] {
    return [...this.#items]
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(timer: T): void {
    this.#items.push(timer)
    this.#up(this.#items.length - 1)
  }

  pop(): T | undefined {
    const first = this.#items[0]
    if (first) this.#removeAt(0)
    return first
  }

  remove(timer: T): boolean {
    const index = this.#items.indexOf(timer)
    if (index < 0) return false
    this.#removeAt(index)
    return true
  }

  #removeAt(index: number): void {
    const last = this.#items.pop()!
    if (index === this.#items.length) return
    this.#items[index] = last
    this.#up(index)
    this.#down(index)
  }

  #up(index: number): void {
    for (let parent = (index - 1) >> 1; index > 0 && this.#before(index, parent); parent = (index - 1) >> 1) {
      this.#swap(index, parent)
      index = parent
    }
  }

  #down(index: number): void {
    for (;;) {
      const left = 2 * index + 1
      const right = left + 1
      let least = index
      if (left < this.#items.length && this.#before(left, least)) least = left
      if (right < this.#items.length && this.#before(right, least)) least = right
      if (least === index) return
      this.#swap(index, least)
      index = least
    }
  }

  #before(a: number, b: number): boolean {
    const x = this.#items[a]!
    const y = this.#items[b]!
    return x.at < y.at || (x.at === y.at && x.order < y.order)
  }

  #swap(a: number, b: number): void {
    ;[this.#items[a], this.#items[b]] = [this.#items[b]!, this.#items[a]!]
  }
}

/**
 * Sleeps by a timer. Rejects with the signal's reason when it is aborted before.
 *
 * @param set sets the timer
 */
export function sleepBy(set: (fire: () => void) => Disposable, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!signal) return void set(resolve)
    if (signal.aborted) return reject(signal.reason as Error)
    const timer = set(() => {
      signal.removeEventListener('abort', aborted)
      resolve()
    })
    const aborted = () => {
      timer[Symbol.dispose]()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', aborted, { once: true })
  })
}
