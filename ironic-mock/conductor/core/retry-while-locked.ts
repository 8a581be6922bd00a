import type { Clock } from '../../../base/runtime/index.js'
import { IronicError } from '../../../base/wire/index.js'
import type { ConductorConf } from './conductor-conf.js'

/** Tries again while the node is locked. */
export type RetryWhileLocked = <T>(attempt: () => Promise<T>) => Promise<T>

const isLocked = (error: unknown): boolean =>
  error instanceof IronicError && error.status === 409 && error.message.includes(' is locked by host ')

/**
 * Repeats an attempt while the node is locked, as Ironic does before it answers 409: most locks last less than a second.
 *
 * @throws IronicError 409 of the last attempt
 */
export async function retryWhileLocked<T>(
  { clock, conf }: { clock: Clock; conf: ConductorConf },
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let left = conf.nodeLockedRetryAttempts; ; left--)
    try {
      return await attempt()
    } catch (error) {
      if (left <= 1 || !isLocked(error)) throw error
      await clock.sleep(conf.nodeLockedRetryInterval, { signal })
    }
}
