import { seconds, type Clock } from '../../../runtime/index.js'

/** A time limit is never shorter: one that set itself anew for the present would pass for ever without time passing. */
export const SHORTEST_WAIT = seconds(1)

const MOVED = new Error('the time limit was moved')

interface Entry {
  node: string
  kind: string
  at: number
}

/**
 * Calls when a time limit passes. One timer for all of them, set for the earliest; limits are moved far more often than
 * they pass, so a moved one stays in the heap until its old time comes and is then found outdated.
 */
export class TimeLimits {
  readonly #clock: Clock
  readonly #passed: (node: string, kind: string) => void
  readonly #current = new Map<string, number>()
  #heap: Entry[] = []
  #armed: { at: number; cancel: AbortController } | undefined
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
      this.#push({ node, kind, at })
    }
    this.#arm()
  }

  close(): void {
    this.#closed = true
    this.#armed?.cancel.abort(MOVED)
    this.#armed = undefined
  }

  #valid({ node, kind, at }: Entry): boolean {
    return this.#current.get(`${node} ${kind}`) === at
  }

  #arm(): void {
    if (this.#closed) return
    while (this.#heap[0] && !this.#valid(this.#heap[0])) this.#pop()
    const first = this.#heap[0]
    if (this.#armed?.at === first?.at) return
    this.#armed?.cancel.abort(MOVED)
    this.#armed = undefined
    if (!first) return
    const armed = { at: first.at, cancel: new AbortController() }
    this.#armed = armed
    this.#clock.sleep(first.at - this.#clock.now(), { signal: armed.cancel.signal }).then(
      () => {
        if (this.#armed === armed) this.#fire()
      },
      () => {},
    )
  }

  #fire(): void {
    this.#armed = undefined
    const now = this.#clock.now()
    while (this.#heap[0] && (this.#heap[0].at <= now || !this.#valid(this.#heap[0]))) {
      const entry = this.#pop()
      if (!this.#valid(entry)) continue
      this.#current.delete(`${entry.node} ${entry.kind}`)
      this.#passed(entry.node, entry.kind)
    }
    this.#arm()
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (heap[parent]!.at <= heap[at]!.at) break
      ;[heap[parent], heap[at]] = [heap[at]!, heap[parent]!]
      at = parent
    }
  }

  #pop(): Entry {
    const heap = this.#heap
    const first = heap[0]!
    const last = heap.pop()!
    if (heap.length > 0) {
      heap[0] = last
      let at = 0
      for (;;) {
        const left = 2 * at + 1
        let least = at
        if (left < heap.length && heap[left]!.at < heap[least]!.at) least = left
        if (left + 1 < heap.length && heap[left + 1]!.at < heap[least]!.at) least = left + 1
        if (least === at) break
        ;[heap[at], heap[least]] = [heap[least]!, heap[at]!]
        at = least
      }
    }
    return first
  }
}
