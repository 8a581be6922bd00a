import type { Store, StoreView } from '../../ironic-mock/index.js'
import type { Transport } from '../../wire/index.js'
import type { Events } from '../events.js'

/**
 * Keeps an agent that takes no time from talking into Ironic's lock. In life a machine boots for minutes while the
 * conductor needs a moment to start waiting for it; here both are instant, and whoever calls first is lost: inventory
 * posted before `inspect wait` is refused for good, a heartbeat that meets the lock is dropped. So an agent's calls wait
 * until Ironic has let go of its node. Agents paced as in life are not held back.
 */
export class ReservationGate {
  readonly #store: Store & StoreView
  readonly #events: Events
  /** Machine -> node, as Ironic last used its BMC. */
  readonly #nodes = new Map<string, string>()
  #open = false
  readonly #waiting: (() => void)[] = []

  constructor(store: Store & StoreView, events: Events) {
    this.#store = store
    this.#events = events
  }

  belongs(machine: string, node: string): void {
    this.#nodes.set(machine, node)
  }

  /** The node that a machine was last used as. */
  nodeOf(machine: string): string | undefined {
    return this.#nodes.get(machine)
  }

  /** Ironic can be reached. */
  open(): void {
    this.#open = true
    for (const go of this.#waiting.splice(0)) go()
  }

  patient(machine: string, transport: Transport): Transport {
    return {
      send: async (request) => {
        if (!this.#open) await new Promise<void>((go) => this.#waiting.push(go))
        await this.#released(machine, request.signal)
        return transport.send(request)
      },
    }
  }

  async #released(machine: string, signal: AbortSignal | undefined): Promise<void> {
    const node = this.#nodes.get(machine)
    if (node === undefined || !this.#isReserved(node)) return
    await new Promise<void>((resolve, reject) => {
      const listening = this.#events.listenTo(node, () => {
        if (this.#isReserved(node)) return
        end()
        resolve()
      })
      const aborted = () => {
        end()
        reject(signal!.reason as Error)
      }
      const end = () => {
        listening[Symbol.dispose]()
        signal?.removeEventListener('abort', aborted)
      }
      signal?.addEventListener('abort', aborted, { once: true })
    })
  }

  #isReserved(node: string): boolean {
    return (this.#store.records.nodes.get(node)?.record.reservation ?? null) !== null
  }
}
