import { onAbort } from '../runtime/index.js'
import type { ChangeLog } from './change-log.js'
import type { Selects } from './selectors.js'
import type { Stored } from './stored-object.js'

export interface StoredEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** The last state where it is deleted. */
  object: Stored
}

/** A watch: what can be had now is taken without waiting, so that a server can fill a buffer and stop. */
export interface ObjectWatch {
  /**
   * The next event; undefined when none has happened yet.
   *
   * @throws KubeRefusal 410 when it has been forgotten meanwhile
   */
  take(): StoredEvent | undefined
  /** Calls `wake` once, at the next change, which may be none that the watch selects. */
  onNext(wake: () => void): Disposable
  /** True once nothing can follow what has been taken: the kind has gone. */
  readonly isOver: boolean
  /** resourceVersion up to which everything has been taken. */
  readonly resourceVersion: number
}

/**
 * @param initial objects that are there, which come first
 * @param version of `initial`, or the one after which changes are asked for
 */
export function openWatch(log: ChangeLog, initial: readonly Stored[], version: number, selects: Selects): ObjectWatch {
  let taken = 0
  let position = log.positionAfter(version)
  let resourceVersion = version
  const take = (): StoredEvent | undefined => {
    const first = initial[taken]
    if (first) {
      taken++
      return { type: 'ADDED', object: first }
    }
    for (;;) {
      const change = log.at(position, resourceVersion)
      if (!change) return undefined
      position++
      resourceVersion = change.resourceVersion
      const { before, after, isDeleted } = change
      const wasSelected = before !== undefined && selects(before)
      const isSelected = !isDeleted && selects(after)
      if (isSelected) return { type: wasSelected ? 'MODIFIED' : 'ADDED', object: after }
      if (wasSelected) return { type: 'DELETED', object: after }
    }
  }
  return {
    take,
    onNext: (wake) => log.onNext(wake),
    get isOver() {
      return log.isOver
    },
    get resourceVersion() {
      return resourceVersion
    },
  }
}

/** The events of a watch until the signal is aborted. */
export function eventsOf<T>(
  watch: ObjectWatch,
  signal: AbortSignal,
  shown: (event: StoredEvent) => T,
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      let isOver = false
      return {
        next: async () => {
          for (;;) {
            if (isOver || signal.aborted) return { done: true, value: undefined }
            const event = watch.take()
            if (event) return { done: false, value: shown(event) }
            if (watch.isOver) return { done: true, value: undefined }
            await changeOrEnd(watch, signal)
          }
        },
        return: () => {
          isOver = true
          return Promise.resolve({ done: true, value: undefined })
        },
      }
    },
  }
}

/** Promises alone, no timers: a virtual clock does not move before the change has been taken. */
async function changeOrEnd(watch: ObjectWatch, signal: AbortSignal): Promise<void> {
  let wake = (): void => {}
  const woken = new Promise<void>((resolve) => (wake = resolve))
  using _next = watch.onNext(wake)
  using _abort = onAbort(signal, wake)
  await woken
}
