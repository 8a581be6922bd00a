import { seconds, type Clock, type Logger } from '../../runtime/index.js'

export interface SilenceParts {
  /** Who is silent. */
  name: string
  /** Completes `no answer from HOST for 12 s while ...`. */
  doing: () => string
  /** When the wait ends by itself, in the clock's milliseconds. */
  until: () => number
  /** Called at that moment, unless something was heard that moved it. */
  expired?: () => void
  clock: Clock
  logger: Logger
}

/** A person begins to wonder after so long, and wants to see that the wait goes on after so long again. */
const FIRST = seconds(10)
const AGAIN = seconds(60)

/** Says what is waited for, and until when, while nothing is heard of a target. Ends when disposed. */
export class Silence implements Disposable {
  readonly #parts: SilenceParts
  readonly #over = new AbortController()
  #since: number
  #said = false

  constructor(parts: SilenceParts) {
    this.#parts = parts
    this.#since = parts.clock.now()
    void this.#watch().catch(() => {})
  }

  /** Something came, be it a byte. */
  heard(): void {
    const { name, clock, logger } = this.#parts
    this.#since = clock.now()
    if (this.#said) logger('warn', `${name} answers again`)
    this.#said = false
  }

  [Symbol.dispose](): void {
    this.#over.abort()
  }

  async #watch(): Promise<void> {
    const { name, doing, until, expired, clock, logger } = this.#parts
    const { signal } = this.#over
    let next = this.#since + FIRST
    for (;;) {
      const end = expired ? until() : Infinity
      await clock.sleep(Math.max(0, Math.min(next, end) - clock.now()), { weak: true, signal })
      const now = clock.now()
      if (expired && now >= until()) return expired()
      if (!this.#said && now < this.#since + FIRST) next = this.#since + FIRST
      else if (now >= next) {
        const [silent, time] = [Math.round((now - this.#since) / 1000), new Date(until()).toISOString().slice(11, 19)]
        logger('warn', `no answer from ${name} for ${silent} s while ${doing()}; giving up at ${time} UTC`)
        this.#said = true
        next = now + AGAIN
      }
    }
  }
}
