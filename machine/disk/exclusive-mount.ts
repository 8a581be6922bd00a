import { Mutex, type Clock } from '../../base/runtime/index.js'

/**
 * Allows one mount at a time: the library is one WebAssembly instance with 16 MiB of memory, and its calls suspend. A
 * mount with a few edits takes two to four milliseconds, less than messages to a worker thread would.
 */
const mounting = new Mutex()
/** Mounts of one lab wait for each other without a hold: the first may wait for the time of the lab. */
const ofLabs = new WeakMap<Clock, Mutex>()

/** Runs `work` when no other mount does, under a hold. */
export async function withExclusiveMount<T>(
  clock: Clock,
  why: string,
  work: (held: InterruptedHold) => Promise<T>,
): Promise<T> {
  const ofLab = ofLabs.get(clock) ?? new Mutex()
  ofLabs.set(clock, ofLab)
  return ofLab.run(async () => {
    using held = new InterruptedHold(clock, why)
    return await mounting.run(() => work(held))
  })
}

/** A hold of a clock that is released while some work may wait for that clock. */
export class InterruptedHold implements Disposable {
  readonly #clock: Clock
  readonly #why: string
  #hold: Disposable

  constructor(clock: Clock, why: string) {
    this.#clock = clock
    this.#why = why
    this.#hold = clock.hold(why, { stopsWork: true })
  }

  async without<T>(work: () => Promise<T>): Promise<T> {
    this.#hold[Symbol.dispose]()
    try {
      return await work()
    } finally {
      this.#hold = this.#clock.hold(this.#why, { stopsWork: true })
    }
  }

  [Symbol.dispose](): void {
    this.#hold[Symbol.dispose]()
  }
}
