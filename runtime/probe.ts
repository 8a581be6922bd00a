/**
 * Something about to happen that an observer may want to see, delay or make fail: a wire exchange, a command on a
 * machine, a write to a disk. `kind` and the attributes belong to the room that reports it.
 */
export interface ProbePoint {
  readonly kind: string
  readonly [attribute: string]: unknown
}

/** Sees a point and decides what becomes of it: `next()` lets it happen. */
export type Interceptor = <T>(point: ProbePoint, next: () => Promise<T>) => Promise<T>

/**
 * The one place through which every exchange, command and disk write passes. Faults and the journal attach here and
 * nowhere else; with nothing attached it costs a length check.
 */
export class Probe {
  #interceptors: Interceptor[] = []

  around<T>(point: ProbePoint, run: () => Promise<T>): Promise<T> {
    if (this.#interceptors.length === 0) return run()
    if (this.#interceptors.length === 1) return this.#interceptors[0]!(point, run)
    const through = (index: number): Promise<T> => {
      const interceptor = this.#interceptors[index]
      return interceptor ? interceptor(point, () => through(index + 1)) : run()
    }
    return through(0)
  }

  /** Reports something that has happened; interceptors cannot prevent it. */
  report(point: ProbePoint): void {
    if (this.#interceptors.length > 0) void this.around(point, () => Promise.resolve()).catch(() => {})
  }

  attach(interceptor: Interceptor): Disposable {
    this.#interceptors.push(interceptor)
    return {
      [Symbol.dispose]: () => {
        this.#interceptors = this.#interceptors.filter((other) => other !== interceptor)
      },
    }
  }
}
