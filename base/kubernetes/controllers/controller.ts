import { errorChain, sharedAbort } from '../../runtime/index.js'
import type { KubeKind } from '../kinds.js'
import type { ObjectName } from '../kube-client.js'
import type { KubeObject } from '../object.js'
import type { ActorParts } from './actor.js'
import { queueKeyOf, retryDelay, WorkQueue } from './work-queue.js'

/** When a key is reconciled again without a change; undefined for never. */
export type ReconcileResult = { again: number } | void

/** A kind that a controller watches. */
export interface WatchedKind {
  kind: KubeKind
  /** Names the objects to reconcile after a change of one; by default the object itself. */
  keysOf?: (at: ObjectName) => ObjectName[] | Promise<ObjectName[]>
}

/** Watches one object, whose changes concern `key`. */
export const watchObject = (kind: KubeKind, { name }: ObjectName, key: ObjectName): WatchedKind => ({
  kind,
  keysOf: (at) => (at.name === name ? [key] : []),
})

/** A controller in the terms of controller-runtime: what it watches, and its Reconciler. Each controller is a class of it. */
export interface ResourceController {
  /** As in the documents: `cluster-version-operator`. */
  readonly name: string
  readonly watches: readonly WatchedKind[]
  /** Compares the observed state with the desired one and takes one step. If it throws, it is retried with growing pauses. */
  reconcile(at: ObjectName, signal: AbortSignal): Promise<ReconcileResult>
}

/**
 * Runs a controller on the lab's clock, as controller-runtime does: a key is never reconciled twice at the same time,
 * changes during a round cause one more round, and failures are retried with growing pauses. A broken watch restarts with a
 * new list.
 */
export function runController(controller: ResourceController, parts: ActorParts): AsyncDisposable {
  const ending = sharedAbort()
  const queue = new WorkQueue(controller, parts, ending.signal)
  const informers = controller.watches.map((watched) => new KindInformer(controller.name, watched, queue))
  const following = informers.map((informer) => informer.follow(parts, ending.signal))
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await Promise.all(following)
      await queue.ended()
    },
  }
}

/** Enqueues what changes of a kind concern. */
class KindInformer {
  readonly #controller: string
  readonly #watched: WatchedKind
  readonly #queue: WorkQueue
  readonly #known = new Map<string, ObjectName>()

  constructor(controller: string, watched: WatchedKind, queue: WorkQueue) {
    this.#controller = controller
    this.#watched = watched
    this.#queue = queue
  }

  async follow({ kube, clock, logger }: ActorParts, signal: AbortSignal): Promise<void> {
    const { kind } = this.#watched
    for (let failures = 0; !signal.aborted;) {
      try {
        const { items, resourceVersion } = await kube.list(kind)
        await this.#replace(items)
        failures = 0
        for await (const { type, object } of kube.watch(kind, { resourceVersion, signal })) {
          const at = objectNameOf(object)
          // The object stays known until its deletion has been passed on.
          if (type !== 'DELETED') this.#known.set(queueKeyOf(at), at)
          await this.#enqueue(at)
          if (type === 'DELETED') this.#known.delete(queueKeyOf(at))
        }
      } catch (error) {
        if (signal.aborted) return
        failures++
        logger('debug', `${this.#controller} watches ${kind} again: ${errorChain(error).join(': ')}`)
      }
      await clock.sleep(retryDelay(Math.max(failures, 1)), { signal }).catch(() => {})
    }
  }

  /** Takes a new list: what it lacks has been deleted in the meantime. */
  async #replace(items: readonly KubeObject[]): Promise<void> {
    const present = new Map(items.map((item) => [queueKeyOf(objectNameOf(item)), objectNameOf(item)]))
    for (const [key, at] of this.#known) if (!present.has(key)) await this.#enqueue(at)
    for (const [key, at] of present) {
      this.#known.set(key, at)
      await this.#enqueue(at)
    }
    for (const key of [...this.#known.keys()]) if (!present.has(key)) this.#known.delete(key)
  }

  async #enqueue(at: ObjectName): Promise<void> {
    const { keysOf = (own: ObjectName) => [own] } = this.#watched
    for (const key of await keysOf(at)) this.#queue.enqueue(key)
  }
}

const objectNameOf = ({ metadata: { name, namespace } }: KubeObject): ObjectName =>
  namespace === undefined ? { name } : { name, namespace }
