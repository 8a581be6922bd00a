import { describe, expect, test } from 'vitest'
import { ClockIdleError, VirtualClock } from '../base/runtime/index.js'
import { createStagedLab, installCoreos } from './create-lab.js'
import { sharedWait } from './shared-wait.js'

describe('several callers that wait on one clock', () => {
  test('wake each at its time', async () => {
    const clock = new VirtualClock()
    const wait = sharedWait(clock)
    const woken: number[] = []
    await Promise.all([30, 10, 20].map((ms) => wait(clock.sleep(ms)).then(() => woken.push(clock.elapsed()))))
    expect(woken).toEqual([10, 20, 30])
  })

  test('may wait for an effect of a later call', async () => {
    const clock = new VirtualClock()
    const wait = sharedWait(clock)
    let done: () => void = () => {}
    const first = wait(new Promise<void>((resolve) => (done = resolve)))
    await wait(clock.sleep(10))
    await wait(clock.sleep(10))
    done()
    await first
    expect(clock.elapsed()).toBe(20)
  })

  test('all fail when no timer is left, and can wait again', async () => {
    const clock = new VirtualClock()
    const wait = sharedWait(clock)
    const never = () => wait(new Promise(() => {}))
    const ends = await Promise.allSettled([never(), never(), wait(Promise.reject(new Error('its own')))])
    expect(ends.map((end) => (end as PromiseRejectedResult).reason as Error)).toEqual([
      expect.any(ClockIdleError),
      expect.any(ClockIdleError),
      expect.objectContaining({ message: 'its own' }),
    ])
    await wait(clock.sleep(5))
    expect(clock.elapsed()).toBe(5)
  })

  test('a wait for a node may begin before its deployment is requested', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: [installCoreos()] })
    const active = node.until(({ provision_state }) => provision_state === 'active')
    await node.deploy()
    expect(await active).toMatchObject({ provision_state: 'active' })
  })
})
