/** Work that several wait for and that is done once. It is stopped when none of them waits any more. */
export class Flights<T, P extends readonly unknown[]> {
  readonly #underWay = new Map<string, Flight<T, P>>()

  /**
   * Joins the work of that name, or begins it.
   *
   * @param work told a signal of its own, and whom to tell how far it is
   * @param onProgress of this waiter
   */
  async join(
    name: string,
    work: (signal: AbortSignal, progress: (...told: P) => void) => Promise<T>,
    { signal, onProgress }: { signal: AbortSignal; onProgress?: (...told: P) => void },
  ): Promise<T> {
    signal.throwIfAborted()
    const flight = this.#underWay.get(name) ?? this.#begin(name, work)
    const told = (...progress: P) => onProgress?.(...progress)
    flight.listeners.add(told)
    let aborted = () => {}
    const abort = new Promise<never>((_, reject) => {
      aborted = () => reject(signal.reason as Error)
      signal.addEventListener('abort', aborted, { once: true })
    })
    try {
      return await Promise.race([flight.result, abort])
    } finally {
      signal.removeEventListener('abort', aborted)
      flight.listeners.delete(told)
      if (flight.listeners.size === 0) {
        this.#leave(name, flight)
        flight.controller.abort(signal.reason)
      }
    }
  }

  #begin(name: string, work: Parameters<Flights<T, P>['join']>[1]): Flight<T, P> {
    const controller = new AbortController()
    const listeners = new Set<(...told: P) => void>()
    const result = work(controller.signal, (...told) => {
      for (const listener of listeners) listener(...told)
    })
    const flight = { result, controller, listeners }
    this.#underWay.set(name, flight)
    result.finally(() => this.#leave(name, flight)).catch(() => {})
    return flight
  }

  #leave(name: string, flight: Flight<T, P>): void {
    if (this.#underWay.get(name) === flight) this.#underWay.delete(name)
  }
}

interface Flight<T, P extends readonly unknown[]> {
  result: Promise<T>
  controller: AbortController
  listeners: Set<(...told: P) => void>
}
