import { minutes, onAbort, seconds, systemClock } from '../../runtime/index.js'
import { KubeRefusal } from '../kube-refusal.js'
import type { ObjectWatch } from '../watch.js'
import type { ObjectRenderer } from './kube-answers.js'

export interface WatchStreamOptions {
  watch: ObjectWatch
  shown: ObjectRenderer
  /** resourceVersion of the last write of any object. */
  present: () => number
  /** In milliseconds of wall time: sockets are real. */
  timeout: number
  hasBookmarks: boolean
}

/** How often a watch without changes says up to which version it is, as the API server does. */
const BOOKMARK_INTERVAL = minutes(1)
/** Events that are sent together, in characters: one that is read slowly costs this much. */
const MAX_WATCH_PART_CHARACTERS = 64 * 1024

/** The lines of a watch, until its time is over or the client has gone. */
export async function* watchLines(options: WatchStreamOptions, signal: AbortSignal): AsyncGenerator<string> {
  const { watch, shown, present, timeout, hasBookmarks } = options
  const clock = systemClock()
  const end = clock.now() + timeout
  let nextBookmark = clock.now() + BOOKMARK_INTERVAL
  const bookmark = (): string => `{"type":"BOOKMARK","object":${shown.bookmark(String(present()))}}\n`
  while (!signal.aborted) {
    try {
      const part = eventsNow(watch, shown)
      if (part !== '') {
        yield part
        continue
      }
    } catch (error) {
      if (!(error instanceof KubeRefusal)) throw error
      yield `${JSON.stringify({ type: 'ERROR', object: error.status })}\n`
      return
    }
    if (watch.isOver) return
    const now = clock.now()
    if (now >= end) {
      if (hasBookmarks) yield bookmark()
      return
    }
    if (hasBookmarks && now >= nextBookmark) {
      nextBookmark = now + BOOKMARK_INTERVAL
      yield bookmark()
      continue
    }
    await changeOr(watch, Math.min(end, hasBookmarks ? nextBookmark : end) - now, signal)
  }
}

function eventsNow(watch: ObjectWatch, shown: ObjectRenderer): string {
  let part = ''
  while (part.length < MAX_WATCH_PART_CHARACTERS) {
    const event = watch.take()
    if (!event) break
    part += `{"type":"${event.type}","object":${shown.one(event.object)}}\n`
  }
  return part
}

/** Waits for the next change, or for some time. */
async function changeOr(watch: ObjectWatch, ms: number, signal: AbortSignal): Promise<void> {
  const waiting = new AbortController()
  const wake = (): void => waiting.abort()
  using _next = watch.onNext(wake)
  using _abort = onAbort(signal, wake)
  await systemClock()
    .sleep(Math.min(ms, seconds(3600)), { signal: waiting.signal, weak: true })
    .catch(() => {})
}
