import { held, type Clock } from '../../runtime/index.js'
import type { ApiCall } from './rule-actions.js'

/**
 * The GET of an inspection rule.
 *
 * @throws Error in upstream's words when nobody answers, or with an error
 */
export async function callApi({ url, headers, timeout }: ApiCall, clock: Clock, signal: AbortSignal): Promise<null> {
  await held(clock, `calling ${url} for an inspection rule`, async () => {
    const late = new AbortController()
    try {
      const limit = clock.sleep(timeout, { weak: true, signal: AbortSignal.any([signal, late.signal]) })
      limit.then(
        () => late.abort(new Error(`no answer within ${timeout / 1000} s`)),
        () => {},
      )
      const response = await fetch(url, { headers, signal: AbortSignal.any([signal, late.signal]) })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`${response.status} Client Error: ${response.statusText} for url: ${url}`)
    } catch (error) {
      signal.throwIfAborted()
      throw new Error(`Request to ${url} failed`, { cause: error })
    } finally {
      late.abort(new Error('done'))
    }
  })
  return null
}
