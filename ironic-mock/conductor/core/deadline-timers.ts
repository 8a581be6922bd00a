import { seconds, TimerHeap, type Clock, type Due } from '../../../base/runtime/index.js'

/** Lower bound of every time limit: one that re-arms itself for the present would pass for ever without time passing. */
export const MIN_DEADLINE_DELAY = seconds(1)

const MOVED = new Error('the time limit was moved')

/** Time limits in the order in which they were set, and the place of their timer among those of its instant. */
export interface DeadlineTimersState {
  readonly limits: readonly (readonly [node: string, kind: string, at: number])[]
  readonly order: number | null
}

interface NodeTimeLimit extends Due {
  node: string
  kind: string
}

/**
 * Calls `passed` for each time limit that passes. One timer serves all limits. A moved limit stays in the heap until its
 * old time and is then skipped, since limits move far more often than they pass.
 */
export class DeadlineTimers {
  readonly #clock: Clock
  readonly #passed: (node: string, kind: string) => void
  readonly #current = new Map<string, number>()
  readonly #heap = new TimerHeap<NodeTimeLimit>()
  #order = 0
  #armed: { at: number; cancel: AbortController; order: number } | undefined
  #closed = false

  constructor(clock: Clock, passed: (node: string, kind: string) => void) {
    this.#clock = clock
    this.#passed = passed
  }

  set(node: string, kind: string, at: number | null): void {
    const key = `${node} ${kind}`
    if (at === null) this.#current.delete(key)
    else if (this.#current.get(key) !== at) {
      this.#current.set(key, at)
      this.#heap.push({ node, kind, at, order: this.#order++ })
    }
    this.#arm()
  }

  /** Forgets the limits of nodes. */
  drop(isDropped: (node: string) => boolean): void {
    for (const key of this.#current.keys()) if (isDropped(key.slice(0, key.indexOf(' ')))) this.#current.delete(key)
    this.#arm()
  }

  /** Timers of the clock that are set for the limits: one, or none. */
  get timers(): number {
    return this.#armed ? 1 : 0
  }

  take(): DeadlineTimersState {
    const limits = this.#heap.entries().filter((limit) => this.#valid(limit))
    return {
      limits: limits.sort((a, b) => a.order - b.order).map(({ node, kind, at }) => [node, kind, at]),
      order: this.#armed?.order ?? null,
    }
  }

  /** Sets the limits of a snapshot, of which none may be set yet. */
  restore({ limits, order }: DeadlineTimersState): void {
    for (const [node, kind, at] of limits) {
      this.#current.set(`${node} ${kind}`, at)
      this.#heap.push({ node, kind, at, order: this.#order++ })
    }
    this.#arm(order ?? undefined)
  }

  close(): void {
    this.#closed = true
    this.#armed?.cancel.abort(MOVED)
    this.#armed = undefined
  }

  #valid({ node, kind, at }: NodeTimeLimit): boolean {
    return this.#current.get(`${node} ${kind}`) === at
  }

  #arm(order?: number): void {
    if (this.#closed) return
    let first = this.#heap.peek()
    for (; first && !this.#valid(first); first = this.#heap.peek()) this.#heap.pop()
    if (this.#armed?.at === first?.at) return
    this.#armed?.cancel.abort(MOVED)
    this.#armed = undefined
    if (!first) return
    const armed = { at: first.at, cancel: new AbortController(), order: order ?? this.#clock.nextOrder ?? 0 }
    this.#armed = armed
    const place = order === undefined ? {} : { order }
    this.#clock.sleep(first.at - this.#clock.now(), { signal: armed.cancel.signal, ...place }).then(
      () => {
        if (this.#armed === armed) this.#fire()
      },
      () => {},
    )
  }

  #fire(): void {
    this.#armed = undefined
    const now = this.#clock.now()
    for (let limit = this.#heap.peek(); limit; limit = this.#heap.peek()) {
      const valid = this.#valid(limit)
      if (valid && limit.at > now) break
      this.#heap.pop()
      if (!valid) continue
      this.#current.delete(`${limit.node} ${limit.kind}`)
      this.#passed(limit.node, limit.kind)
    }
    this.#arm()
  }
}
