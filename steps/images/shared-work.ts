/** Work that several callers share. It is aborted when the last of them stops waiting. */
export class SharedWork<T, P extends readonly unknown[]> {
  readonly #underWay = new Map<string, RunningWork<T, P>>()

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
    const shared = this.#underWay.get(name) ?? this.#begin(name, work)
    const listener = (...progress: P) => onProgress?.(...progress)
    shared.listeners.add(listener)
    let aborted = () => {}
    const abort = new Promise<never>((_, reject) => {
      aborted = () => reject(signal.reason as Error)
      signal.addEventListener('abort', aborted, { once: true })
    })
    try {
      return await Promise.race([shared.result, abort])
    } finally {
      signal.removeEventListener('abort', aborted)
      shared.listeners.delete(listener)
      if (shared.listeners.size === 0) {
        this.#leave(name, shared)
        shared.controller.abort(signal.reason)
      }
    }
  }

  #begin(name: string, work: Parameters<SharedWork<T, P>['join']>[1]): RunningWork<T, P> {
    const controller = new AbortController()
    const listeners = new Set<(...progress: P) => void>()
    const result = work(controller.signal, (...progress) => {
      for (const listener of listeners) listener(...progress)
    })
    const shared = { result, controller, listeners }
    this.#underWay.set(name, shared)
    result.finally(() => this.#leave(name, shared)).catch(() => {})
    return shared
  }

  #leave(name: string, shared: RunningWork<T, P>): void {
    if (this.#underWay.get(name) === shared) this.#underWay.delete(name)
  }
}

interface RunningWork<T, P extends readonly unknown[]> {
  result: Promise<T>
  controller: AbortController
  listeners: Set<(...progress: P) => void>
}
