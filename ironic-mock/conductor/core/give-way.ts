import type { Clock } from '../../../runtime/index.js'

/**
 * Lets sockets, signals and other nodes have their turn before something is tried again. Two parties that retry in
 * microtasks keep the event loop from all of them.
 */
export async function giveWay(clock: Clock): Promise<void> {
  const hold = clock.hold('trying again')
  try {
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    hold[Symbol.dispose]()
  }
}
