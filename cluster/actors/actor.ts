import { errorChain, minutes, seconds, type Clock, type Logger, type Random } from '../../runtime/index.js'
import type { KubeClient, ObjectName } from '../kube/kube-client.js'
import type { Kind } from '../kube/kinds.js'
import type { Behaviours } from './behaviours.js'

/** An act of an actor, or its wait for something: a line of a rehearsal. */
export interface Notice {
  actor: string
  /** One sentence, in the present: `reboots worker-1 into rendered-worker-7c1e`. */
  does: string
  /** The reason, or the thing that it waits for. */
  because?: string
}

export interface ActorParts {
  kube: KubeClient
  clock: Clock
  random: Random
  logger: Logger
  behaviours: Behaviours
  announce: (notice: Notice) => void
}

/** When a key is looked at again without a change; undefined for never. */
export type Next = { again: number } | void

export interface ActorDefinition {
  /** As in the documents: `cluster-version-operator`. */
  name: string
  /**
   * The kinds that it watches. `keysOf` names the objects to reconcile after a change of one; by default the object itself.
   */
  watches: readonly { kind: Kind; keysOf?: (at: ObjectName) => ObjectName[] | Promise<ObjectName[]> }[]
  /** Compares what is with what is wanted, and does the next thing. A throw is tried again, later and later. */
  reconcile: (at: ObjectName, signal: AbortSignal) => Promise<Next>
}

const [FIRST_PAUSE, LONGEST_PAUSE] = [seconds(1), minutes(5)]

/**
 * Runs a reconcile loop on the lab's clock, as controller-runtime does: a key is never reconciled twice at the same time,
 * changes while it is are one more round, and failures are tried again with growing pauses.
 */
export function runActor(
  { name, watches, reconcile }: ActorDefinition,
  { kube, clock, logger }: ActorParts,
): AsyncDisposable {
  const ending = new AbortController()
  const { signal } = ending
  const keys = new Map<string, { wake: AbortController; isDue: boolean; running: Promise<void> }>()

  const enqueue = (at: ObjectName): void => {
    const key = `${at.namespace ?? ''}/${at.name}`
    const known = keys.get(key)
    if (known) {
      known.isDue = true
      known.wake.abort()
    } else if (!signal.aborted) {
      const state = { wake: new AbortController(), isDue: true, running: Promise.resolve() }
      keys.set(key, state)
      state.running = loop(at, state, key)
    }
  }

  const loop = async (at: ObjectName, state: { wake: AbortController; isDue: boolean }, key: string): Promise<void> => {
    for (let failures = 0; !signal.aborted;) {
      state.isDue = false
      state.wake = new AbortController()
      let next: Next
      try {
        next = await reconcile(at, signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        logger('debug', `${name}, ${at.name}: ${errorChain(error).join(': ')}`)
        next = { again: Math.min(FIRST_PAUSE * 2 ** failures++, LONGEST_PAUSE) }
      }
      if (state.isDue) continue
      // At once: a change that comes after the look at it begins a loop of its own.
      if (!next) return void keys.delete(key)
      await clock.sleep(next.again, { signal: AbortSignal.any([signal, state.wake.signal]) }).catch(() => {})
    }
  }

  const watching = watches.map(async ({ kind, keysOf }) => {
    for await (const { object } of kube.watch(kind, { signal })) {
      const { name: own, namespace } = object.metadata
      const at = namespace === undefined ? { name: own } : { name: own, namespace }
      for (const key of keysOf ? await keysOf(at) : [at]) enqueue(key)
    }
  })
  for (const each of watching)
    each.catch((error: unknown) =>
      logger('error', `${name} watches no more: ${errorChain(error).join(': ')}`, { error }),
    )

  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await Promise.allSettled(watching)
      await Promise.all([...keys.values()].map(({ running }) => running))
    },
  }
}
