import { HttpClient, withoutPasswords } from '../../../bytes/index.js'
import { held, type Clock } from '../../../runtime/index.js'
import type { ApiCall } from '../inspection/rule-actions.js'

/**
 * Sends the GET of an inspection rule.
 *
 * @throws Error with upstream's sentence when no answer or an error status comes
 */
export async function callApi({ url, headers, timeout }: ApiCall, clock: Clock, signal: AbortSignal): Promise<null> {
  const shown = withoutPasswords(url)
  await held(clock, `calling ${shown} for an inspection rule`, async () => {
    const late = new AbortController()
    try {
      const limit = clock.sleep(timeout, { weak: true, signal: AbortSignal.any([signal, late.signal]) })
      limit.then(
        () => late.abort(new Error(`no answer within ${timeout / 1000} s`)),
        () => {},
      )
      const http = new HttpClient({ clock })
      const answer = await http.get({
        url,
        headers: lowerCase(headers),
        signal: AbortSignal.any([signal, late.signal]),
      })
      await answer.close()
      const { status, statusText } = answer
      if (status < 200 || status > 299) throw new Error(`${status} Client Error: ${statusText} for url: ${shown}`)
    } catch (error) {
      signal.throwIfAborted()
      throw new Error(`Request to ${shown} failed`, { cause: error })
    } finally {
      late.abort(new Error('done'))
    }
  })
  return null
}

const lowerCase = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
