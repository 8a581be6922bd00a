import type { Machine } from '../../../machine/index.js'
import type { Clock } from '../../../base/runtime/index.js'

/** Pause between two looks at a simulated console, in milliseconds. */
const CONSOLE_POLL_INTERVAL = 100

/** Lines of the console of a simulated machine: of its live system, and of the installed one's journal. */
export async function* simulatedConsole(machine: Machine, clock: Clock, signal: AbortSignal): AsyncGenerator<string> {
  let boot: string | undefined
  let shown = 0
  let entries = 0
  let failure: string | null = null
  while (!signal.aborted) {
    const now = machine.boot()
    if (now && now.id !== boot) {
      boot = now.id
      ;[shown, entries, failure] = [0, 0, null]
    }
    const console = machine.console()
    for (; shown < console.length; shown++) yield console[shown]!
    const journal = now?.outcome === 'disk' || now?.outcome === 'emergency shell' ? machine.journal() : []
    for (; entries < journal.length; entries++) yield `${journal[entries]!.from}: ${journal[entries]!.message}`
    const first = now?.outcome === 'emergency shell' ? machine.firstBoot() : undefined
    if (first?.failure && failure === null) {
      failure = first.failure
      yield `Ignition failed: ${failure}`
      yield 'You are in emergency mode.'
    }
    await clock.sleep(CONSOLE_POLL_INTERVAL, { signal, weak: true }).catch(() => {})
  }
}
