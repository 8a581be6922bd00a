import type { VirtualClock } from '../runtime/index.js'
import type { Lab } from './lab.js'

interface Waiter {
  /** Set once what it waits for is settled. */
  deliver?: () => void
  fail: (why: unknown) => void
}

/**
 * Lets any number of people wait on one automatic clock at once. Each for himself would have to take turns, and whoever
 * comes first may wait for what only another's next act brings about: `const active = node.until(...)`, then
 * `await node.deploy()`. So one mover goes on for as long as anybody waits. Like the clock's own waits these end when
 * nothing moves any more at that instant.
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
      // Nothing is left to happen, for nobody of them.
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
        waiter.deliver()
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
