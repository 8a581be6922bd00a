import type { Clock } from '../../../base/runtime/index.js'

/**
 * Lets the event loop run before a retry. Two parties that retry in microtasks would keep it from sockets, signals and
 * timers.
 */
export async function yieldToEventLoop(clock: Clock): Promise<void> {
  const hold = clock.hold('retrying')
  try {
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    hold[Symbol.dispose]()
  }
}
