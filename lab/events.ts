import type { FirstBoot } from '../machine/index.js'
import type { NodeRecord } from '../wire/index.js'

/** What happens in a lab, as it happens. */
export type LabEvent =
  /** A commit changed the node. */
  | { kind: 'node'; node: Readonly<NodeRecord> }
  | { kind: 'node-gone'; uuid: string }
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

  emit(event: LabEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  listen(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}
