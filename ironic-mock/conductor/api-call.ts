import { held, type Clock } from '../../runtime/index.js'
import type { ApiCall } from './rule-actions.js'

/**
 * The GET of an inspection rule.
 *
 * @throws Error in upstream's words when nobody answers, or with an error
 */
export async function callApi({ url, headers, timeout }: ApiCall, clock: Clock, signal: AbortSignal): Promise<null> {
  await held(clock, `calling ${url} for an inspection rule`, async () => {
    try {
      // The other side is real, and so is its time.
      const limits = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
      const response = await fetch(url, { headers, signal: limits })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`${response.status} Client Error: ${response.statusText} for url: ${url}`)
    } catch (error) {
      signal.throwIfAborted()
      throw new Error(`Request to ${url} failed`, { cause: error })
    }
  })
  return null
}
