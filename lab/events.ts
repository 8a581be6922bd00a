import type { RepeatedDeployment } from '../ironic-mock/index.js'
import type { FirstBoot } from '../machine/index.js'
import type { NodeRecord } from '../wire/index.js'

/** What happens in a lab, as it happens. */
export type LabEvent =
  /** A commit changed the node. */
  | { kind: 'node'; node: Readonly<NodeRecord> }
  | { kind: 'node-gone'; uuid: string }
  /** A client asks for a deployment that failed again, unchanged. */
  | ({ kind: 'deployment-repeated' } & RepeatedDeployment)
  | { kind: 'ramdisk-up'; machine: string }
  | { kind: 'first-boot'; machine: string; report: FirstBoot }
  /** A step got further: a stage of it began, a percentage changed, its program printed a line. */
  | {
      kind: 'progress'
      machine: string
      step: string
      progress: { stage: string } | { percent: number } | { line: string }
    }

export type Listener = (event: LabEvent) => void

/** Tells whoever listens; a listener that throws is its own problem, not the lab's. */
export class Events {
  readonly #listeners = new Set<Listener>()
  /** Those who wait for one node: in a lab of a thousand most do, and each event concerns one of them. */
  readonly #ofNodes = new Map<string, Set<Listener>>()
  readonly #failed: (error: unknown) => void

  /** @param failed told what a listener has thrown */
  constructor(failed: (error: unknown) => void = () => {}) {
    this.#failed = failed
  }

  emit(event: LabEvent): void {
    const node = event.kind === 'node' ? event.node.uuid : event.kind === 'node-gone' ? event.uuid : undefined
    if (node !== undefined) for (const listener of this.#ofNodes.get(node) ?? []) this.#tell(listener, event)
    for (const listener of this.#listeners) this.#tell(listener, event)
  }

  #tell(listener: Listener, event: LabEvent): void {
    try {
      listener(event)
    } catch (error) {
      this.#failed(error)
    }
  }

  listen(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Only what happens to one node's record: `node` and `node-gone`. */
  listenTo(node: string, listener: Listener): Disposable {
    const listeners = this.#ofNodes.get(node) ?? new Set()
    this.#ofNodes.set(node, listeners.add(listener))
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener)
        if (listeners.size === 0 && this.#ofNodes.get(node) === listeners) this.#ofNodes.delete(node)
      },
    }
  }
}
