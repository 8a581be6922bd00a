/** Operators of a cluster that may be left to the user, by the abbreviations of their repositories. */
export const OPERATORS = ['bmo', 'cbo', 'cvo', 'icc', 'mao', 'mco', 'mcd'] as const

export type OperatorName = (typeof OPERATORS)[number]

/** Programs of operators, each of which may be left out: it stops, and does not start again. */
export class ActingOperators {
  readonly #leftOut = new Set<OperatorName>()
  readonly #running = new Map<OperatorName, Set<AsyncDisposable>>()

  /** Starts a program of an operator, unless that is left out: then its pod runs, and does nothing. */
  async run(name: OperatorName, start: () => AsyncDisposable | Promise<AsyncDisposable>): Promise<AsyncDisposable> {
    if (this.#leftOut.has(name)) return IDLE
    const started = await start()
    let ending: PromiseLike<void> | undefined
    const program: AsyncDisposable = {
      [Symbol.asyncDispose]: () => {
        this.#programsOf(name).delete(program)
        return (ending ??= started[Symbol.asyncDispose]())
      },
    }
    this.#programsOf(name).add(program)
    // It may have been left out while it started.
    if (this.#leftOut.has(name)) await program[Symbol.asyncDispose]()
    return program
  }

  /** As {@link run} does, for a program that ends with a signal. */
  async during(name: OperatorName, signal: AbortSignal, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const ending = new AbortController()
    const program = await this.run(name, () => ({
      [Symbol.asyncDispose]: () => {
        ending.abort()
        return Promise.resolve()
      },
    }))
    if (program === IDLE) return
    await run(AbortSignal.any([signal, ending.signal]))
    await program[Symbol.asyncDispose]()
  }

  /** Ends the programs of an operator for good. */
  async leaveOut(name: OperatorName): Promise<void> {
    this.#leftOut.add(name)
    for (const program of [...this.#programsOf(name)].reverse()) await program[Symbol.asyncDispose]()
  }

  #programsOf(name: OperatorName): Set<AsyncDisposable> {
    const known = this.#running.get(name) ?? new Set<AsyncDisposable>()
    this.#running.set(name, known)
    return known
  }
}

const IDLE: AsyncDisposable = { [Symbol.asyncDispose]: () => Promise.resolve() }
