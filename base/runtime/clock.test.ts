import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withClockHeld, hours, minutes, seconds } from './clock.js'
import { systemClock } from './system-clock.js'
import { VirtualClock, ClockIdleError } from './virtual-clock.js'

describe('a virtual clock', () => {
  test('stands still until it is moved', async () => {
    const clock = new VirtualClock(1000)
    let woke = false
    void clock.sleep(10).then(() => (woke = true))
    await clock.idle()
    expect([woke, clock.now(), clock.elapsed()]).toEqual([false, 1000, 0])
    await clock.advance(10)
    expect([woke, clock.now(), clock.elapsed()]).toEqual([true, 1010, 10])
  })

  test('work that is queued while a hold stops it begins after the hold, in the order in which it was asked for', async () => {
    const clock = new VirtualClock()
    const begun: string[] = []
    const work = (name: string) => clock.queueWork(() => begun.push(name))
    clock.queueWork(() => {
      begun.push('first')
      const hold = clock.hold('a real read', { stopsWork: true })
      work('third')
      setTimeout(() => {
        begun.push('read')
        hold[Symbol.dispose]()
        work('fourth')
      }, 5)
    })
    work('second')
    await clock.idle()
    expect(begun).toEqual(['first', 'read', 'second', 'third', 'fourth'])
  })

  test('a thirty-minute wait passes at once', async () => {
    const clock = new VirtualClock()
    await clock.until(clock.sleep(minutes(30)))
    expect(clock.elapsed()).toBe(minutes(30))
  })

  test('timers fire in order of their time, and of their making within one instant', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.nat(50), { maxLength: 30 }), async (delays) => {
        const clock = new VirtualClock()
        const fired: { at: number; index: number }[] = []
        delays.forEach((delay, index) => void clock.sleep(delay).then(() => fired.push({ at: clock.elapsed(), index })))
        await clock.advance(50)
        expect(fired).toEqual(
          delays.map((at, index) => ({ at, index })).sort((a, b) => a.at - b.at || a.index - b.index),
        )
      }),
      { numRuns: 30 },
    ))

  test('a weak timer fires on the way but is never a reason to jump', async () => {
    const clock = new VirtualClock()
    const beats: number[] = []
    const heart = (async () => {
      for (;;) {
        await clock.sleep(seconds(90), { weak: true })
        beats.push(clock.elapsed())
      }
    })()
    heart.catch(() => {})
    await clock.until(clock.sleep(minutes(5)))
    expect(beats).toEqual([90, 180, 270].map(seconds))
    await expect(clock.until(new Promise(() => {}))).rejects.toThrow(ClockIdleError)
  })

  test('does not jump while something real is in progress', async () => {
    const clock = new VirtualClock()
    const order: string[] = []
    const real = withClockHeld(clock, 'a real read', async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      order.push('read')
    })
    await Promise.all([real, clock.until(clock.sleep(hours(1)).then(() => order.push('timer')))])
    expect(order).toEqual(['read', 'timer'])
  })

  test('everything of one instant happens before the next begins', async () => {
    const clock = new VirtualClock()
    const order: string[] = []
    void clock.sleep(1).then(async () => {
      for (let i = 0; i < 50; i++) await Promise.resolve()
      order.push('long chain at 1')
    })
    void clock.sleep(2).then(() => order.push('at 2'))
    await clock.advance(2)
    expect(order).toEqual(['long chain at 1', 'at 2'])
  })

  test('an aborted sleep rejects with the reason and leaves no timer', async () => {
    const clock = new VirtualClock()
    const controller = new AbortController()
    const sleeping = clock.sleep(10, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(sleeping).rejects.toThrow('enough')
    await expect(clock.until(new Promise(() => {}))).rejects.toThrow(ClockIdleError)
    await expect(clock.sleep(1, { signal: controller.signal })).rejects.toThrow('enough')
  })

  test('two callers that wait on one clock move it one after the other', async () => {
    const clock = new VirtualClock()
    const woken: number[] = []
    await Promise.all([30, 10, 20].map((ms) => clock.until(clock.sleep(ms).then(() => woken.push(clock.elapsed())))))
    expect(woken).toEqual([10, 20, 30])
  })
})

describe('the system clock', () => {
  test('passes faster when scaled', async () => {
    const clock = systemClock(1000)
    await clock.sleep(seconds(10))
    // A timer of Node's may fire a millisecond early.
    expect(clock.elapsed()).toBeGreaterThanOrEqual(seconds(8.9))
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(minutes(5))
  })

  test('refuses a speed that is not a positive number', () => {
    for (const speed of [0, -1, NaN, Infinity]) expect(() => systemClock(speed)).toThrow(RangeError)
  })

  test('fires timers in the order of their times, and none that was disposed of', async () => {
    const clock = systemClock()
    const fired: number[] = []
    const [third, , second] = [30, 10, 20].map((ms) => clock.timer(ms, () => fired.push(ms)))
    second![Symbol.dispose]()
    const fourth = new Promise<void>((resolve) => void clock.timer(40, resolve))
    await fourth
    third![Symbol.dispose]()
    expect(fired).toEqual([10, 30])
  })

  test('waits for any number of sleeps by one timeout', async () => {
    const timeouts = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const clock = systemClock()
    const before = timeouts()
    const over = new AbortController()
    const sleeps = Array.from({ length: 1000 }, (_, n) => clock.sleep(minutes(1) + n, { signal: over.signal }))
    expect(timeouts()).toBe(before + 1)
    over.abort(new Error('enough'))
    for (const sleep of sleeps) await expect(sleep).rejects.toThrow('enough')
    expect(timeouts()).toBe(before)
  })

  test('a sleep that is set while timers fire is no part of that turn', async () => {
    const clock = systemClock()
    let count = 0
    const again = (): void => {
      if (++count < 5) clock.timer(0, again)
    }
    again()
    await clock.sleep(0)
    await expect.poll(() => count).toBe(5)
  })

  test('an aborted sleep ends at once', async () => {
    const controller = new AbortController()
    const sleeping = systemClock().sleep(hours(1), { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(sleeping).rejects.toThrow('enough')
  })
})

describe('a fast clock', () => {
  const busy = (ms: number) => {
    const until = performance.now() + ms
    while (performance.now() < until);
  }
  const nextRound = () => new Promise((resolve) => setImmediate(resolve))

  test('lets no time limit pass while the processor is busy with something else', async () => {
    const clock = systemClock(1200)
    let late = false
    const limit = clock.sleep(minutes(1)).then(() => (late = true))
    // Work of three rounds of the event loop, each delayed by a quarter of an hour of lab time.
    for (let rounds = 0; rounds < 3; rounds++) {
      busy(750)
      await nextRound()
    }
    expect(late).toBe(false)
    await limit
    expect(clock.elapsed()).toBeLessThan(minutes(2))
  })

  test('goes at ten times the speed of the wall while something real is in progress', async () => {
    const clock = systemClock(1200)
    const since = performance.now()
    await withClockHeld(clock, 'a real read', () => new Promise((resolve) => setTimeout(resolve, 300)))
    const read = clock.elapsed()
    expect(read).toBeLessThan((performance.now() - since) * 10 + seconds(5))
    await clock.sleep(minutes(10))
    expect(clock.elapsed()).toBeGreaterThanOrEqual(read + minutes(10))
  })

  test('holds that follow each other without end delay no timer', async () => {
    const clock = systemClock(1200)
    let woken = false
    void clock.sleep(seconds(30)).then(() => (woken = true))
    const since = performance.now()
    while (!woken && performance.now() - since < 10_000) await withClockHeld(clock, 'a moment', nextRound)
    expect(woken).toBe(true)
  })

  test('timers fire in order of their time, those of one instant in order of their making', async () => {
    const clock = systemClock(100_000)
    const fired: number[] = []
    const delays = [300, 100, 200, 100, 0, 300].map(seconds)
    await Promise.all(delays.map((delay, index) => clock.sleep(delay).then(() => fired.push(index))))
    expect(fired).toEqual([4, 1, 3, 2, 0, 5])
  })

  test('an aborted sleep rejects with the reason', async () => {
    const clock = systemClock(60)
    const controller = new AbortController()
    const sleeping = clock.sleep(hours(1), { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(sleeping).rejects.toThrow('enough')
    await clock.sleep(10)
  })
})
