import { setMaxListeners } from 'node:events'
import type { Clock } from './clock.js'

/** Aborts what any number of waits share: those of a thousand nodes are many, and no leak to be warned of. */
export const sharedAbort = (): SharedAbort => new SharedAbort()

/** The signal is made when it is first asked for: with its listeners it takes most of a kilobyte. */
export class SharedAbort extends AbortController {
  #signal: AbortSignal | undefined
  #aborted = false

  override get signal(): AbortSignal {
    if (!this.#signal) {
      this.#signal = super.signal
      setMaxListeners(0, this.#signal)
    }
    return this.#signal
  }

  override abort(reason?: unknown): void {
    this.#aborted = true
    super.abort(reason)
  }

  /** True after the abort. Makes no signal. */
  get aborted(): boolean {
    return this.#aborted
  }
}

/**
 * Closes what was opened in it. Disposal closes the things registered with {@link use} in reverse order, all of them
 * even when one fails to; `signal` is aborted first, so that every wait inside ends.
 */
export class Scope implements AsyncDisposable {
  /** Made when it is first asked for. The one for work in the background ends with that, unless others have it too. */
  #controller: SharedAbort | undefined
  #isLent = false
  #closers: (() => unknown)[] | undefined
  #background: Set<Promise<unknown>> | undefined
  #closed: Promise<void> | undefined

  get signal(): AbortSignal {
    this.#isLent = true
    return this.#own.signal
  }

  get isClosed(): boolean {
    return this.#controller?.aborted ?? false
  }

  /** @throws ScopeClosed */
  throwIfClosed(): void {
    if (this.isClosed) this.signal.throwIfAborted()
  }

  get #own(): SharedAbort {
    return (this.#controller ??= sharedAbort())
  }

  use<T extends AsyncDisposable | Disposable>(resource: T): T {
    this.onClose(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()))
    return resource
  }

  onClose(close: () => unknown): void {
    // A literal has no room for entries that never come.
    if (this.#closers) this.#closers.push(close)
    else this.#closers = [close]
  }

  /**
   * Starts work in the background; closing waits for its end. What it throws after the scope was aborted is the abort
   * itself; before that it goes to `failed`.
   */
  spawn(work: (signal: AbortSignal) => Promise<unknown>, failed: (error: unknown) => void): void {
    const ended = (): void => {
      this.#background?.delete(running)
      if (this.#background?.size !== 0) return
      this.#background = undefined
      if (!this.#isLent && !this.isClosed) this.#controller = undefined
    }
    const running: Promise<void> = work(this.#own.signal).then(ended, (error: unknown) => {
      try {
        if (!this.isClosed) failed(error)
      } finally {
        ended()
      }
    })
    this.#background ??= new Set()
    this.#background.add(running)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#own.abort(new ScopeClosed())
    const errors: unknown[] = []
    for (const close of this.#closers?.reverse() ?? []) {
      try {
        await close()
      } catch (error) {
        errors.push(error)
      }
    }
    while (this.#background) await Promise.all(this.#background)
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1) throw new AggregateError(errors, 'several things failed to close')
  }
}

/**
 * Opens something that consists of several: what is in the scope already is closed again when the rest cannot be opened.
 * Closing the scope otherwise is up to what was opened.
 */
export async function openInScope<T>(open: (scope: Scope) => Promise<T>): Promise<T> {
  const scope = new Scope()
  try {
    return await open(scope)
  } catch (error) {
    // A failure to close is most often a consequence, and says less than the first error.
    await scope[Symbol.asyncDispose]().catch(() => {})
    throw error
  }
}

/** The reason with which a closing {@link Scope} aborts what still waits in it. */
export class ScopeClosed extends Error {
  override name = 'ScopeClosed'
  constructor() {
    super('closed')
  }
}

/**
 * The result of `work`, unless the signal is aborted before: then it rejects with the signal's reason at once, and what
 * `work` still gives goes to `late`.
 */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  late: (value: T) => unknown = () => {},
): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const aborted = () => {
      reject(signal.reason as Error)
      work.then(late).catch(() => {})
    }
    const ended = () => signal.removeEventListener('abort', aborted)
    // It may have been aborted while the work was being started.
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted, { once: true })
    work.then(
      (value) => {
        ended()
        resolve(value)
      },
      (error: unknown) => {
        ended()
        reject(error as Error)
      },
    )
  })
}

/**
 * A signal that is aborted some time after another was, with the same reason: what has to be cleared up gets that long.
 *
 * @param ms in the clock's milliseconds
 */
export function delaySignal(signal: AbortSignal | undefined, ms: number, clock: Clock): AbortSignal {
  const controller = new AbortController()
  const start = () =>
    void clock.sleep(ms, { weak: true }).then(() => {
      controller.abort(signal!.reason)
    })
  if (signal?.aborted) start()
  else signal?.addEventListener('abort', start, { once: true })
  return controller.signal
}

/**
 * Calls `then` with the signal's reason when it is aborted, at once if it is already. Leaves nothing on the signal once
 * disposed of, as `AbortSignal.any` does on one that lives long.
 */
export function onAbort(signal: AbortSignal, then: (reason: unknown) => void): Disposable {
  const aborted = () => then(signal.reason)
  if (signal.aborted) aborted()
  else signal.addEventListener('abort', aborted, { once: true })
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', aborted) }
}

export interface TimeLimit {
  /** Milliseconds of the clock. */
  ms: number
  clock: Clock
  /** A weak limit is no reason for a virtual clock to jump. */
  weak?: boolean
  signal?: AbortSignal | undefined
  /** The reason of the abort at the limit. */
  late: () => Error
}

/**
 * Runs `work` with a signal that is aborted at a limit of time, or together with the caller's signal and by its reason.
 * Ends when the work does, which has to heed its signal.
 */
export async function withinLimit<T>(
  { ms, clock, weak = false, signal, late }: TimeLimit,
  work: (either: AbortSignal) => Promise<T>,
): Promise<T> {
  const done = new AbortController()
  const either = new AbortController()
  using _ = signal && onAbort(signal, (reason) => either.abort(reason))
  const timer = clock.sleep(ms, { weak, signal: done.signal }).then(() => either.abort(late()), nothing)
  try {
    return await work(either.signal)
  } finally {
    done.abort(WORK_DONE)
    await timer
  }
}

/** Made once, so that no exception with a stack is made for the usual case. */
const WORK_DONE = new Error('done')

/** An end without a value: a mutex holds no result. */
const nothing = (): void => {}

/** Runs one piece of work at a time, in the order of the calls. */
export class Mutex {
  #tail: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T> | T): Promise<T> {
    const run = this.#tail.then(work)
    this.#tail = run.then(nothing, nothing)
    return run
  }
}
