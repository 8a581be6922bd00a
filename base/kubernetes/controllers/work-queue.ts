import { errorChain, minutes, onAbort, seconds, type Clock, type Logger } from '../../runtime/index.js'
import type { ObjectName } from '../kube-client.js'
import type { ActorParts } from './actor.js'
import type { ReconcileResult, ResourceController } from './controller.js'

const MIN_REQUEUE_DELAY = seconds(1)
const MAX_REQUEUE_DELAY = minutes(5)
/** Limit on rounds of a key at one instant. */
const MAX_ROUNDS_AT_INSTANT = 100

/** Pause after a number of failures in a row. */
export const retryDelay = (failures: number): number =>
  Math.min(MIN_REQUEUE_DELAY * 2 ** (failures - 1), MAX_REQUEUE_DELAY)

export const queueKeyOf = ({ namespace = '', name }: ObjectName): string => `${namespace}/${name}`

/** A key in the queue, from its first round to the end of its last. */
interface QueuedKey {
  /** Ends the pause before the next round. */
  wake: () => void
  /** True if something has changed since the round began. */
  isDue: boolean
  running: Promise<void>
}

/** The keys that a controller reconciles or waits with. */
export class WorkQueue {
  readonly #controller: ResourceController
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #signal: AbortSignal
  readonly #keys = new Map<string, QueuedKey>()
  readonly #rounds: InstantRounds

  /** @param signal ends all rounds */
  constructor(controller: ResourceController, { clock, logger }: ActorParts, signal: AbortSignal) {
    this.#controller = controller
    this.#clock = clock
    this.#logger = logger
    this.#signal = signal
    this.#rounds = new InstantRounds(clock)
  }

  enqueue(at: ObjectName): void {
    const key = queueKeyOf(at)
    const known = this.#keys.get(key)
    if (known) {
      known.isDue = true
      known.wake()
    } else if (!this.#signal.aborted) {
      const queued: QueuedKey = { wake: () => {}, isDue: true, running: Promise.resolve() }
      this.#keys.set(key, queued)
      queued.running = this.#run(at, key, queued)
    }
  }

  /** Resolves once no round runs any more. */
  async ended(): Promise<void> {
    await Promise.all([...this.#keys.values()].map(({ running }) => running))
  }

  async #run(at: ObjectName, key: string, queued: QueuedKey): Promise<void> {
    const signal = this.#signal
    const { name } = this.#controller
    for (let failures = 0; !signal.aborted;) {
      queued.isDue = false
      let result: ReconcileResult
      try {
        result = await this.#controller.reconcile(at, signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) break
        failures++
        this.#logger('debug', `${name}, ${at.name}: ${errorChain(error).join(': ')}`)
        result = { again: retryDelay(failures) }
      }
      // Rounds that are caused by the writes of the one before would leave a virtual clock no time to pass.
      if (failures > 1 || this.#rounds.exceeds(key))
        await this.#clock.sleep(MIN_REQUEUE_DELAY, { signal }).catch(() => {})
      if (queued.isDue) continue
      // Nothing may be awaited between this and the key's end, or a change in between would be lost.
      if (!result) break
      await this.#pause(queued, result.again - (failures > 1 ? MIN_REQUEUE_DELAY : 0))
    }
    this.#keys.delete(key)
  }

  async #pause(queued: QueuedKey, ms: number): Promise<void> {
    const ended = new AbortController()
    queued.wake = () => ended.abort()
    using _ = onAbort(this.#signal, queued.wake)
    await this.#clock.sleep(ms, { signal: ended.signal }).catch(() => {})
  }
}

/** Counts the rounds of each key at the present instant. */
class InstantRounds {
  readonly #clock: Clock
  readonly #rounds = new Map<string, number>()
  #instant = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a round. @returns whether there have been too many */
  exceeds(key: string): boolean {
    if (this.#instant !== this.#clock.now()) this.#rounds.clear()
    this.#instant = this.#clock.now()
    const rounds = (this.#rounds.get(key) ?? 0) + 1
    this.#rounds.set(key, rounds)
    return rounds > MAX_ROUNDS_AT_INSTANT
  }
}
