import type { Machine } from '../../machine/index.js'
import { systemClock, type Probe } from '../../base/runtime/index.js'
import { answerOfStream, type WireResponse } from '../../base/wire/index.js'
import { maskedText, type ConsoleEvent } from '../../control/index.js'
import { attachTo } from '../points.js'

/** Lines that wait for a reader. One who is slower gets the whole console again. */
const MAX_WAITING_LINES = 1000

/** Milliseconds of wall time after which a reader that waits for lines is shown that the lab is still there. */
const CONSOLE_KEEPALIVE_INTERVAL = 15_000

/** The console of a machine as server-sent events. */
export function followConsole(machine: Machine, probe: Probe): WireResponse {
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
  return answerOfStream(200, headers, async function* (signal) {
    const all = (): ConsoleEvent => ({ event: 'console', lines: machine.console().map(maskedText) })
    let waiting: ConsoleEvent[] = [all()]
    let wake = (): void => {}
    const listener = attachTo(
      probe,
      (point, next) => {
        if (point.machine === machine.spec.id) {
          // A machine that is switched on has an empty console.
          if (point.kind === 'power') waiting = [all()]
          else waiting.push({ event: 'line', line: maskedText(point.line) })
          if (waiting.length > MAX_WAITING_LINES) waiting = [all()]
          wake()
        }
        return next()
      },
      ['console', 'power'],
    )
    try {
      while (!signal.aborted) {
        const events = waiting
        waiting = []
        yield events.length === 0
          ? ': nothing new\n\n'
          : events.map((event) => `event: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`).join('')
        if (waiting.length > 0) continue
        const over = new AbortController()
        await new Promise<void>((resolve) => {
          wake = resolve
          signal.addEventListener('abort', () => resolve(), { once: true })
          systemClock()
            .sleep(CONSOLE_KEEPALIVE_INTERVAL, { weak: true, signal: over.signal })
            .then(resolve, () => {})
        })
        over.abort()
        wake = () => {}
      }
    } finally {
      listener[Symbol.dispose]()
    }
  })
}
