import { seconds, type Clock, type Logger } from '../../base/runtime/index.js'

export interface SilenceParts {
  /** Name of the silent target. */
  name: string
  /** Completes `no answer from HOST for 12 s while ...`. */
  doing: () => string
  /** End of the wait, in the clock's milliseconds. */
  until: () => number
  /** Called at that moment, unless `until` has moved. */
  expired?: () => void
  clock: Clock
  logger: Logger
}

/** Silence before the first message, and between messages. */
const SILENCE_WARNING_INTERVAL = seconds(10)
const WARNING_INTERVAL = seconds(60)

/** Logs the wait for a silent target and its end. Stops when disposed. */
export class Silence implements Disposable {
  readonly #parts: SilenceParts
  readonly #over = new AbortController()
  #since: number
  #reported = false

  constructor(parts: SilenceParts) {
    this.#parts = parts
    this.#since = parts.clock.now()
    void this.#watch().catch(() => {})
  }

  /** Must be called when any bytes arrive. */
  heard(): void {
    const { name, clock, logger } = this.#parts
    this.#since = clock.now()
    if (this.#reported) logger('warn', `${name} answers again`)
    this.#reported = false
  }

  [Symbol.dispose](): void {
    this.#over.abort()
  }

  async #watch(): Promise<void> {
    const { name, doing, until, expired, clock, logger } = this.#parts
    const { signal } = this.#over
    let next = this.#since + SILENCE_WARNING_INTERVAL
    for (;;) {
      const end = expired ? until() : Infinity
      await clock.sleep(Math.max(0, Math.min(next, end) - clock.now()), { weak: true, signal })
      const now = clock.now()
      if (expired && now >= until()) return expired()
      if (!this.#reported && now < this.#since + SILENCE_WARNING_INTERVAL) next = this.#since + SILENCE_WARNING_INTERVAL
      else if (now >= next) {
        const silent = Math.round((now - this.#since) / 1000)
        const time = new Date(until()).toISOString().slice(11, 19)
        logger('warn', `no answer from ${name} for ${silent} s while ${doing()}; giving up at ${time} UTC`)
        this.#reported = true
        next = now + WARNING_INTERVAL
      }
    }
  }
}
