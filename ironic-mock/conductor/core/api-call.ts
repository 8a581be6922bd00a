import { HttpClient, withoutPasswords } from '../../../base/bytes/index.js'
import { withClockHeld, withinLimit, type Clock } from '../../../base/runtime/index.js'
import type { ApiCall } from '../inspection/rule-actions.js'

/**
 * Sends the GET of an inspection rule.
 *
 * @throws Error with upstream's sentence when no answer or an error status comes
 */
export async function callApi({ url, headers, timeout }: ApiCall, clock: Clock, signal: AbortSignal): Promise<null> {
  const shown = withoutPasswords(url)
  await withClockHeld(clock, `calling ${shown} for an inspection rule`, async () => {
    const late = () => new Error(`no answer within ${timeout / 1000} s`)
    try {
      const http = new HttpClient({ clock })
      const { status, statusText } = await withinLimit(
        { ms: timeout, clock, weak: true, signal, late },
        async (either) => {
          const answer = await http.get({ url, headers: lowerCase(headers), signal: either })
          await answer.close()
          return answer
        },
      )
      if (status < 200 || status > 299) throw new Error(`${status} Client Error: ${statusText} for url: ${shown}`)
    } catch (error) {
      signal.throwIfAborted()
      throw new Error(`Request to ${shown} failed`, { cause: error })
    }
  })
  return null
}

const lowerCase = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
