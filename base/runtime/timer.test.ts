import { expect, test } from 'vitest'
import { Timer } from './timer.js'
import { VirtualClock } from './virtual-clock.js'

test('a timer fires once after the last start, and never after a stop', async () => {
  const clock = new VirtualClock()
  const timer = new Timer(clock)
  const fired: string[] = []
  timer.start(10, () => fired.push('first'))
  timer.start(20, () => fired.push(`second, running: ${timer.isRunning}`))
  expect(timer.isRunning).toBe(true)
  await clock.advance(30)
  expect(fired).toEqual(['second, running: false'])
  timer.start(10, () => fired.push('stopped'))
  timer.stop()
  expect(timer.isRunning).toBe(false)
  await clock.advance(30)
  timer.start(-5, () => fired.push('at once'))
  await clock.advance(1)
  expect(fired.slice(1)).toEqual(['at once'])
})
