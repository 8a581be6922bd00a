import {
  errorChain,
  minutes,
  onAbort,
  seconds,
  sharedAbort,
  type Clock,
  type Logger,
  type Random,
} from '../../../base/runtime/index.js'
import type { KubeClient, ObjectName } from '../kube/kube-client.js'
import type { KubeKind } from '../kube/kinds.js'
import type { KubeObject } from '../kube/object.js'
import type { Behaviours } from './behaviours.js'

/** An act of an actor, or its wait for something: a line of a rehearsal. */
export interface ActorNotice {
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
  announce: (notice: ActorNotice) => void
}

/** When a key is looked at again without a change; undefined for never. */
export type Next = { again: number } | void

export interface ActorDefinition {
  /** As in the documents: `cluster-version-operator`. */
  name: string
  /**
   * The kinds that it watches. `keysOf` names the objects to reconcile after a change of one; by default the object itself.
   */
  watches: readonly { kind: KubeKind; keysOf?: (at: ObjectName) => ObjectName[] | Promise<ObjectName[]> }[]
  /** Compares the observed state with the desired one and takes one step. If it throws, it is retried with growing pauses. */
  reconcile: (at: ObjectName, signal: AbortSignal) => Promise<Next>
}

const MIN_REQUEUE_DELAY = seconds(1)
const MAX_REQUEUE_DELAY = minutes(5)
/** Limit on rounds of a key at one instant. */
const MAX_ROUNDS_AT_INSTANT = 100
const pauseAfter = (failures: number): number => Math.min(MIN_REQUEUE_DELAY * 2 ** (failures - 1), MAX_REQUEUE_DELAY)

interface KeyState {
  /** Ends the pause before the next round. */
  wake: () => void
  /** Whether something has changed since the round began. */
  isDue: boolean
  running: Promise<void>
}

/**
 * Runs a reconcile loop on the lab's clock, as controller-runtime does: a key is never reconciled twice at the same time,
 * changes during a round cause one more round, and failures are retried with growing pauses. A broken watch restarts with a
 * new list.
 */
export function runActor(
  { name, watches, reconcile }: ActorDefinition,
  { kube, clock, logger }: ActorParts,
): AsyncDisposable {
  const ending = sharedAbort()
  const { signal } = ending
  const keys = new Map<string, KeyState>()

  /** Rounds of each key at the present instant. */
  const hurry = { instant: 0, rounds: new Map<string, number>() }
  const isHurried = (key: string): boolean => {
    if (hurry.instant !== clock.now()) hurry.rounds.clear()
    hurry.instant = clock.now()
    const rounds = (hurry.rounds.get(key) ?? 0) + 1
    hurry.rounds.set(key, rounds)
    return rounds > MAX_ROUNDS_AT_INSTANT
  }

  const enqueue = (at: ObjectName): void => {
    const key = queueKeyOf(at)
    const known = keys.get(key)
    if (known) {
      known.isDue = true
      known.wake()
    } else if (!signal.aborted) {
      const state: KeyState = { wake: () => {}, isDue: true, running: Promise.resolve() }
      keys.set(key, state)
      state.running = rounds(at, key, state)
    }
  }

  const rounds = async (at: ObjectName, key: string, state: KeyState): Promise<void> => {
    for (let failures = 0; !signal.aborted;) {
      state.isDue = false
      let next: Next
      try {
        next = await reconcile(at, signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) break
        failures++
        logger('debug', `${name}, ${at.name}: ${errorChain(error).join(': ')}`)
        next = { again: pauseAfter(failures) }
      }
      // Rounds that are caused by the writes of the one before would leave a virtual clock no time to pass.
      if (failures > 1 || isHurried(key)) await clock.sleep(MIN_REQUEUE_DELAY, { signal }).catch(() => {})
      if (state.isDue) continue
      // Nothing may be awaited between this and the key's end, or a change in between would be lost.
      if (!next) break
      await pause(state, next.again - (failures > 1 ? MIN_REQUEUE_DELAY : 0))
    }
    keys.delete(key)
  }

  const pause = async (state: KeyState, ms: number): Promise<void> => {
    const ended = new AbortController()
    state.wake = () => ended.abort()
    using _ = onAbort(signal, state.wake)
    await clock.sleep(ms, { signal: ended.signal }).catch(() => {})
  }

  const follow = async ({ kind, keysOf = (at) => [at] }: ActorDefinition['watches'][number]): Promise<void> => {
    const known = new Map<string, ObjectName>()
    const changed = async (at: ObjectName): Promise<void> => {
      for (const each of await keysOf(at)) enqueue(each)
    }
    for (let failures = 0; !signal.aborted;) {
      try {
        const { items, resourceVersion } = await kube.list(kind)
        const present = new Map(items.map((item) => [queueKeyOf(objectNameOf(item)), objectNameOf(item)]))
        for (const [key, at] of known) if (!present.has(key)) await changed(at)
        for (const [key, at] of present) {
          known.set(key, at)
          await changed(at)
        }
        for (const key of [...known.keys()]) if (!present.has(key)) known.delete(key)
        failures = 0
        for await (const { type, object } of kube.watch(kind, { resourceVersion, signal })) {
          const at = objectNameOf(object)
          // The object stays known until its deletion has been passed on.
          if (type !== 'DELETED') known.set(queueKeyOf(at), at)
          await changed(at)
          if (type === 'DELETED') known.delete(queueKeyOf(at))
        }
      } catch (error) {
        if (signal.aborted) return
        failures++
        logger('debug', `${name} watches ${kind} again: ${errorChain(error).join(': ')}`)
      }
      await clock.sleep(pauseAfter(Math.max(failures, 1)), { signal }).catch(() => {})
    }
  }

  const watching = watches.map(follow)
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await Promise.all(watching)
      await Promise.all([...keys.values()].map(({ running }) => running))
    },
  }
}

const queueKeyOf = ({ namespace = '', name }: ObjectName): string => `${namespace}/${name}`
const objectNameOf = ({ metadata: { name, namespace } }: KubeObject): ObjectName =>
  namespace === undefined ? { name } : { name, namespace }
