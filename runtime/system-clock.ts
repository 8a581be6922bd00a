import type { Clock, SleepOptions } from './clock.js'
import { LabClock, REAL_WORK_SPEED } from './system-lab-clock.js'

/** setTimeout takes a signed 32-bit count of milliseconds; longer sleeps are made of several. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/**
 * Wall time, or wall time times `speed` (60 makes a minute pass in a second; see {@link LabClock} for what it waits for).
 *
 * @throws RangeError when `speed` is not a positive number
 */
export function systemClock(speed = 1): Clock {
  if (!(speed > 0 && Number.isFinite(speed))) throw new RangeError(`a clock's speed is a positive number, not ${speed}`)
  if (speed > REAL_WORK_SPEED) return new LabClock({ mode: speed })
  const startedAt = Date.now()
  const started = performance.now()
  const elapsed = () => (performance.now() - started) * speed
  return {
    speed,
    now: () => Math.round(startedAt + elapsed()),
    elapsed,
    sleep: (ms, options) => sleep(ms / speed, options ?? {}),
    hold: () => ({ [Symbol.dispose]() {} }),
  }
}

function sleep(ms: number, { weak, signal }: SleepOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    let left = Math.max(0, ms)
    let timer: NodeJS.Timeout
    const arm = () => {
      const part = Math.min(left, LONGEST_TIMEOUT)
      left -= part
      timer = setTimeout(() => (left > 0 ? arm() : finish()), part)
      if (weak) timer.unref()
    }
    const aborted = () => {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const finish = () => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }
    signal?.addEventListener('abort', aborted, { once: true })
    arm()
  })
}
