import { expect, test } from 'vitest'
import { withinLimit } from './lifetime.js'
import { VirtualClock } from './virtual-clock.js'

const late = () => new Error('late')
/** Ends with the reason of its signal, as a request does. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const aborted = () => reject(signal.reason as Error)
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted)
  })

test('work that ends in time leaves no timer', async () => {
  const clock = new VirtualClock()
  expect(await withinLimit({ ms: 10, clock, late }, () => Promise.resolve('done'))).toBe('done')
  expect(clock.pending).toBe(0)
})

test('work is aborted at the limit', async () => {
  const clock = new VirtualClock()
  const waiting = withinLimit({ ms: 10, clock, late }, untilAborted)
  await Promise.all([expect(waiting).rejects.toThrow('late'), clock.advance(10)])
})

test("the caller's abort comes with its reason, also where it came before", async () => {
  const clock = new VirtualClock()
  const caller = new AbortController()
  const waiting = withinLimit({ ms: 10, clock, late, signal: caller.signal, weak: true }, untilAborted)
  const reason = new Error('closed')
  caller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(withinLimit({ ms: 10, clock, late, signal: caller.signal }, untilAborted)).rejects.toBe(reason)
  expect(clock.pending).toBe(0)
})
