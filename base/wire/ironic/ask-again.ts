import { errorChain, type Clock } from '../../runtime/index.js'
import { ConnectionFailed } from '../wire-exchange.js'
import { IronicRefused } from './ironic-client.js'

/** Whether an Ironic has not answered, or only what stands in front of it: it is starting, or gone for a while. */
export const isIronicAway = (error: unknown): boolean =>
  error instanceof ConnectionFailed || (error instanceof IronicRefused && [502, 503, 504].includes(error.status))

export interface AskAgainOptions {
  /** Whether another attempt may help. */
  isPassing: (error: unknown) => boolean
  /** Milliseconds between attempts. */
  every: number
  /** Called before each wait with the failure in words. */
  onWait: (reason: string) => void
  clock: Clock
  signal: AbortSignal
}

/** Asks until there is an answer, or a failure that lasts. @throws the signal's reason, or that failure */
export async function askAgain<T>(ask: () => Promise<T>, options: AskAgainOptions): Promise<T> {
  const { isPassing, every, onWait, clock, signal } = options
  for (;;) {
    signal.throwIfAborted()
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error)) throw error
      onWait(errorChain(error)[0] ?? '')
      await clock.sleep(every, { signal })
    }
  }
}
