import type { StoreView } from '../../ironic-mock/index.js'
import type { Transport } from '../../base/wire/index.js'
import type { Events } from '../lab-events.js'

/**
 * Delays requests of an instant agent while Ironic has its node locked. A real machine boots for minutes, and the conductor
 * is ready long before. Here both are instant, and an early request would be lost: inventory posted before `inspect wait`
 * is refused, and a heartbeat during the lock is dropped. Agents with realistic pace are not delayed.
 */
export class ReservationGate {
  readonly #store: Pick<StoreView, 'records'>
  readonly #events: Events
  /** Machine -> node that last used its BMC. */
  readonly #nodes = new Map<string, string>()
  #open = false
  readonly #waiting: (() => void)[] = []

  constructor(store: Pick<StoreView, 'records'>, events: Events) {
    this.#store = store
    this.#events = events
  }

  belongs(machine: string, node: string): void {
    this.#nodes.set(machine, node)
  }

  /** The node that last used a machine. */
  nodeOf(machine: string): string | undefined {
    return this.#nodes.get(machine)
  }

  /** Forgets which node used which machine: Ironic has lost its nodes. */
  forget(): void {
    this.#nodes.clear()
  }

  take(): readonly (readonly [machine: string, node: string])[] {
    return [...this.#nodes]
  }

  restore(nodes: readonly (readonly [machine: string, node: string])[]): void {
    this.#nodes.clear()
    for (const [machine, node] of nodes) this.#nodes.set(machine, node)
  }

  /** Lets requests through: Ironic can be reached. */
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
      const released = () => {
        if (this.#isReserved(node)) return
        end()
        resolve()
      }
      const listening = this.#events.listenTo(node, released, 'always')
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
