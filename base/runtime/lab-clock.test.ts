import { afterEach, describe, expect, test, vi } from 'vitest'
import { hours, minutes, seconds } from './clock.js'
import { LabClock } from './system-lab-clock.js'
import { ClockIdleError } from './virtual-clock.js'

const START = Date.UTC(2026, 0, 1)
const at = (mode: LabClock['mode']) => new LabClock({ mode, start: START })

afterEach(() => void vi.useRealTimers())

describe('by hand', () => {
  test('time stands still until it is moved, and timers fire on the way', async () => {
    const clock = at('manual')
    const fired: number[] = []
    void clock.sleep(minutes(10)).then(() => fired.push(clock.elapsed()))
    void clock.sleep(minutes(20), { weak: true }).then(() => fired.push(clock.elapsed()))
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(clock.now()).toBe(START)
    await clock.advance(minutes(31))
    expect([fired, clock.elapsed()]).toEqual([[minutes(10), minutes(20)], minutes(31)])
  })

  test('waiting for what can no longer happen fails', async () => {
    await expect(at('manual').until(new Promise(() => {}))).rejects.toBeInstanceOf(ClockIdleError)
  })
})

describe('that goes ahead', () => {
  test('does what was due meanwhile, in its order, and never goes back; what is skipped has not elapsed', async () => {
    const clock = at(10)
    const fired: string[] = []
    const later = [
      clock.sleep(hours(2)).then(() => fired.push('two')),
      clock.sleep(hours(1)).then(() => fired.push('one')),
    ]
    clock.reach(START + hours(3))
    await Promise.all(later)
    expect(fired).toEqual(['one', 'two'])
    expect(clock.now()).toBeGreaterThanOrEqual(START + hours(3))
    clock.reach(START)
    expect(clock.now()).toBeGreaterThanOrEqual(START + hours(3))
    expect(clock.elapsed()).toBeLessThan(hours(1))
  })

  test('also where it is faster than real work allows', async () => {
    const clock = at(1000)
    void clock.sleep(hours(5), { weak: true })
    const due = clock.sleep(hours(1))
    clock.reach(START + hours(2))
    await due
    expect(clock.now()).toBeGreaterThanOrEqual(START + hours(2))
  })
})

describe('by itself', () => {
  test('time jumps over each wait at once, but not for weak timers', async () => {
    const clock = at('auto')
    let weak = false
    void clock.sleep(seconds(1), { weak: true }).then(() => (weak = true))
    await clock.sleep(hours(1))
    expect([clock.elapsed(), weak]).toEqual([hours(1), true])
    void clock.sleep(hours(1), { weak: true })
    await clock.idle()
    expect(clock.elapsed()).toBe(hours(1))
  })

  test('no jump while real work is in progress', async () => {
    const clock = at('auto')
    const hold = clock.hold('a test')
    let woken = false
    const slept = clock.sleep(1).then(() => (woken = true))
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(woken).toBe(false)
    hold[Symbol.dispose]()
    await slept
  })
})

describe('at a speed', () => {
  test('time passes with the wall clock, times the speed', async () => {
    const clock = at(10)
    const before = performance.now()
    await clock.sleep(200)
    const wall = performance.now() - before
    expect(wall).toBeGreaterThan(18)
    expect(clock.elapsed()).toBeGreaterThanOrEqual(200)
    expect(clock.elapsed()).toBeLessThan(wall * 10 + 50)
  })

  test('a jump ahead fires the timers that it passes; then time passes as before', async () => {
    const clock = at(1)
    let woken = false
    void clock.sleep(minutes(30)).then(() => (woken = true))
    await clock.advance(minutes(31))
    expect(woken).toBe(true)
    expect(clock.elapsed()).toBeGreaterThanOrEqual(minutes(31))
    await clock.sleep(5)
    expect(clock.elapsed()).toBeLessThan(minutes(32))
  })
})

test('a change of mode keeps the time and the timers', async () => {
  const clock = at('manual')
  const slept = clock.sleep(minutes(1)).then(() => clock.elapsed())
  await clock.advance(seconds(30))
  clock.mode = 1
  expect(clock.elapsed()).toBeLessThan(seconds(31))
  clock.mode = 'manual'
  const stood = clock.elapsed()
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(clock.elapsed()).toBe(stood)
  clock.mode = 'auto'
  expect(await slept).toBe(minutes(1))
  clock.mode = 1000
  await clock.sleep(seconds(5))
  expect(clock.elapsed()).toBeGreaterThanOrEqual(seconds(65))
})

test('two callers that move the time at once do not jump past each other', async () => {
  const clock = at('manual')
  await Promise.all([clock.advance(1000), clock.advance(500)])
  expect(clock.elapsed()).toBe(1500)
})
