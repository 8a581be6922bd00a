import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { collectAtRest } from './system-memory.js'

/** Milliseconds of a window in these tests. */
const SHORT_WINDOW = 40

/** An object that nothing holds, of several MiB. */
const forgotten = (): WeakRef<object> => new WeakRef({ bytes: Array.from({ length: 2 ** 20 }, (_, n) => n * 1.5) })

test('a process at rest collects what its work has left, and again once there is more', async () => {
  using _ = collectAtRest(SHORT_WINDOW)
  for (let time = 0; time < 2; time++) {
    // Held until the next turn of the event loop, as any that was just made.
    const left = Array.from({ length: 8 }, forgotten)
    await vi.waitFor(() => expect(left.every((each) => each.deref() === undefined)).toBe(true), {
      timeout: 10_000,
      interval: 300,
    })
  }
  // Code that is loaded later was compiled with the flags of the start.
  expect(runInNewContext('typeof gc')).toBe('undefined')
})

test('nothing is collected after its end', async () => {
  collectAtRest(SHORT_WINDOW)[Symbol.dispose]()
  const left = forgotten()
  await new Promise((resolve) => setTimeout(resolve, 5 * SHORT_WINDOW))
  expect(left.deref()).toBeDefined()
})
