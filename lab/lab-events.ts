import type { FirstBoot } from '../machine/index.js'
import type { NodeRecord } from '../base/wire/index.js'

/** The commit of a node in a database of several processes. */
export interface SharedCommit {
  /** Number of the commit among those of the node; null for its end. */
  readonly revision: number | null
  /** True if it is of this process. */
  readonly isOwn: boolean
}

/** Something that happened in a lab. */
export type LabEvent =
  /** A commit changed the node. */
  | { kind: 'node'; node: Readonly<NodeRecord>; commit?: SharedCommit }
  | { kind: 'node-gone'; uuid: string; commit?: SharedCommit }
  /** The lab has gone back to a snapshot: nodes and machines are what they were then. */
  | { kind: 'restored'; snapshot: string }
  /** A client has requested the same failing deployment `times` in a row; `error` is the last failure. */
  | { kind: 'deployment-repeated'; node: string; name: string | null; times: number; error: string | null }
  | { kind: 'ramdisk-up'; machine: string }
  | { kind: 'first-boot'; machine: string; report: FirstBoot }
  /** A stage of a step began, its percentage changed, or its program printed a line. */
  | {
      kind: 'progress'
      machine: string
      step: string
      progress: { stage: string } | { percent: number } | { line: string }
    }

/** @param at when it happened, in milliseconds since the epoch, in lab time */
export type LabEventListener = (event: LabEvent, at: number) => void

/** Events of a lab: commits of nodes, boots, progress of steps. */
export interface LabEvents {
  /**
   * Calls `listener` with each event from now on, until what it returns is disposed of. `at` is in milliseconds since the
   * epoch, in lab time.
   */
  listen(listener: (event: LabEvent, at: number) => void): Disposable
}

/** Calls the listeners of a lab; an error that one throws reaches neither the lab nor the other listeners. */
export class Events implements LabEvents {
  readonly #listeners = new Map<LabEventListener, 'always' | 'unless muted'>()
  /** Listeners to one node: in a lab of a thousand nodes most are, and each event concerns one node. */
  readonly #ofNodes = new Map<string, Map<LabEventListener, 'always' | 'unless muted'>>()
  #isMuted = false
  readonly #now: () => number
  readonly #failed: (error: unknown) => void

  /**
   * @param now lab time
   * @param failed called with the error that a listener has thrown
   */
  constructor(now: () => number, failed: (error: unknown) => void = () => {}) {
    this.#now = now
    this.#failed = failed
  }

  /** @param at when it happened; default: now */
  emit(event: LabEvent, at: number = this.#now()): void {
    const node = event.kind === 'node' ? event.node.uuid : event.kind === 'node-gone' ? event.uuid : undefined
    if (node !== undefined) this.#callThoseOf(this.#ofNodes.get(node), event, at)
    if (event.kind === 'restored')
      for (const listeners of [...this.#ofNodes.values()]) this.#callThoseOf(listeners, event, at)
    this.#callThoseOf(this.#listeners, event, at)
  }

  /** Runs `work` without reporting to those who listen to the lab: what happens has happened to them before. */
  async muted<T>(work: () => Promise<T>): Promise<T> {
    this.#isMuted = true
    try {
      return await work()
    } finally {
      this.#isMuted = false
    }
  }

  #callThoseOf(listeners: ReadonlyMap<LabEventListener, string> | undefined, event: LabEvent, at: number): void {
    for (const [listener, when] of listeners ?? [])
      if (when === 'always' || !this.#isMuted) this.#call(listener, event, at)
  }

  #call(listener: LabEventListener, event: LabEvent, at: number): void {
    try {
      listener(event, at)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** @param when `always` for a part of the lab, as in {@link listenTo} */
  listen(listener: LabEventListener, when: 'always' | 'unless muted' = 'unless muted'): Disposable {
    this.#listeners.set(listener, when)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /**
   * Calls `listener` with the events of one node's record only, `node` and `node-gone`, and with `restored`.
   *
   * @param when `always` for a part of the lab, which also has to hear what it repeats
   */
  listenTo(node: string, listener: LabEventListener, when: 'always' | 'unless muted' = 'unless muted'): Disposable {
    const listeners = this.#ofNodes.get(node) ?? new Map<LabEventListener, typeof when>()
    this.#ofNodes.set(node, listeners.set(listener, when))
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener)
        if (listeners.size === 0 && this.#ofNodes.get(node) === listeners) this.#ofNodes.delete(node)
      },
    }
  }
}
