/** Work that several callers share. It is aborted when the last of them stops waiting. */
export class Flights<T, P extends readonly unknown[]> {
  readonly #underWay = new Map<string, Flight<T, P>>()

  /**
   * Joins the work of that name, or starts it.
   *
   * @param work gets its own signal, and a callback for its progress
   * @param options.onProgress called with the progress, for this caller
   */
  async join(
    name: string,
    work: (signal: AbortSignal, progress: (...progress: P) => void) => Promise<T>,
    { signal, onProgress }: { signal: AbortSignal; onProgress?: (...progress: P) => void },
  ): Promise<T> {
    signal.throwIfAborted()
    const flight = this.#underWay.get(name) ?? this.#begin(name, work)
    const listener = (...progress: P) => onProgress?.(...progress)
    flight.listeners.add(listener)
    let aborted = () => {}
    const abort = new Promise<never>((_, reject) => {
      aborted = () => reject(signal.reason as Error)
      signal.addEventListener('abort', aborted, { once: true })
    })
    try {
      return await Promise.race([flight.result, abort])
    } finally {
      signal.removeEventListener('abort', aborted)
      flight.listeners.delete(listener)
      if (flight.listeners.size === 0) {
        this.#leave(name, flight)
        flight.controller.abort(signal.reason)
      }
    }
  }

  #begin(name: string, work: Parameters<Flights<T, P>['join']>[1]): Flight<T, P> {
    const controller = new AbortController()
    const listeners = new Set<(...progress: P) => void>()
    const result = work(controller.signal, (...progress) => {
      for (const listener of listeners) listener(...progress)
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
  listeners: Set<(...progress: P) => void>
}
