import type { VirtualClock } from '../base/runtime/index.js'
import type { Lab } from './lab.js'

interface Waiter {
  /** Set once the awaited promise is settled. */
  deliver?: () => void
  fail: (why: unknown) => void
}

/**
 * Lets any number of callers wait on one automatic clock at once. If each moved the clock itself, a first wait would block
 * a later call that it depends on: `const active = node.until(...)`, then `await node.deploy()`. So a single loop moves
 * the clock as long as a caller waits. Like the clock's own waits, these fail when no timer is left.
 */
export function sharedWait(clock: VirtualClock): Lab['wait'] {
  const waiters = new Set<Waiter>()
  let oneSettled: () => void = () => {}
  let moving = false

  async function move(): Promise<void> {
    moving = true
    try {
      while (waiters.size > 0) {
        if (![...waiters].some(({ deliver }) => deliver))
          await clock.until(new Promise<void>((resolve) => (oneSettled = resolve)))
        else await clock.idle()
        deliver()
      }
    } catch (error) {
      // No timer is left, so every wait fails.
      deliver()
      for (const { fail } of waiters) fail(error)
      waiters.clear()
    } finally {
      moving = false
    }
  }

  function deliver(): void {
    for (const waiter of waiters)
      if (waiter.deliver) {
        waiters.delete(waiter)
        clock.queueWork(waiter.deliver)
      }
  }

  return <T>(awaited: Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const waiter: Waiter = { fail: reject }
      waiters.add(waiter)
      const settled = (deliver: () => void) => {
        waiter.deliver = deliver
        oneSettled()
      }
      awaited.then(
        (value) => settled(() => resolve(value)),
        (error: unknown) => settled(() => reject(error as Error)),
      )
      if (!moving) void move()
    })
}
