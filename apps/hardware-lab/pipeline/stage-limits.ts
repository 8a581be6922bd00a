import {
  minutes,
  readDuration,
  seconds,
  unlessAborted,
  UserError,
  withinLimit,
  type Clock,
} from '../../../base/runtime/index.js'
import type { Host, HostStage } from '../hosts/host.js'

export interface StageLimits {
  /** Milliseconds for one attempt. */
  time: number
  /** Attempts after the first one. */
  retries: number
  /** Milliseconds before each of them. */
  pause: number
}

/** Steps write a disk, as cleaning and deployment do: they are repeated only where the file says so. */
const USUAL: Readonly<Record<HostStage, StageLimits>> = {
  bmc: { time: minutes(2), retries: 3, pause: seconds(10) },
  boot: { time: minutes(10), retries: 2, pause: seconds(30) },
  ssh: { time: minutes(20), retries: 0, pause: 0 },
  check: { time: minutes(5), retries: 1, pause: seconds(10) },
  register: { time: minutes(10), retries: 2, pause: seconds(10) },
  inspect: { time: minutes(30), retries: 1, pause: seconds(30) },
  clean: { time: minutes(60), retries: 0, pause: seconds(10) },
  deploy: { time: minutes(60), retries: 0, pause: seconds(10) },
  steps: { time: minutes(60), retries: 0, pause: seconds(10) },
  power: { time: minutes(5), retries: 2, pause: seconds(10) },
  'first-boot': { time: minutes(25), retries: 0, pause: 0 },
  'post-checks': { time: minutes(5), retries: 2, pause: seconds(10) },
}

export function limitsOf({ stages = {} }: Host, stage: HostStage): StageLimits {
  const { time, retries, pause } = stages[stage] ?? {}
  const usual = USUAL[stage]
  return {
    time: (time === undefined ? undefined : readDuration(time)) ?? usual.time,
    retries: retries ?? usual.retries,
    pause: (pause === undefined ? undefined : readDuration(pause)) ?? usual.pause,
  }
}

/**
 * Runs work with a signal that is aborted after a time.
 *
 * @throws UserError `stage-timeout`
 */
export async function withinTime<T>(
  { time, what, clock, signal }: { time: number; what: string; clock: Clock; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const late = new UserError('stage-timeout', `${what} took longer than ${Math.round(time / 1000)} s`)
  return withinLimit({ ms: time, clock, weak: true, signal, late: () => late }, (either) =>
    unlessAborted(work(either), either).catch((error: unknown) => {
      throw either.aborted && !signal.aborted ? withCause(late, error) : error
    }),
  )
}

const withCause = (late: UserError, error: unknown): UserError =>
  error === late ? late : new UserError('stage-timeout', late.message, { cause: error })
