import { FetchFailure, HttpClient, maskedUrl, type ProxySettings } from '../../base/bytes/index.js'
import { UserError, defined, type Clock } from '../../base/runtime/index.js'
import { IGNITION_TYPE, MAX_RESOURCE_BYTES, NEWEST_STABLE, type FetchResource } from '../../ignition/index.js'

/**
 * Fetches what an Ignition config refers to by http and https, asking for configs as Ignition does.
 *
 * @throws UserError `ignition-fetch`
 */
export function ignitionFetch(surroundings: {
  clock: Clock
  signal: AbortSignal
  proxies: ProxySettings
}): FetchResource {
  const { signal, ...options } = surroundings
  const http = new HttpClient(options)
  return async ({ source = '', httpHeaders = [] }) => {
    const failed = (remedy: string, why: string, cause?: unknown) =>
      new UserError('ignition-fetch', `fetching ${maskedUrl(source)} failed: ${why}`, {
        ...defined({ cause }),
        remedy,
      })
    const headers: Record<string, string> = { accept: `${IGNITION_TYPE};version=${NEWEST_STABLE}, */*;q=0.1` }
    for (const { name = '', value } of httpHeaders) if (value) headers[name.toLowerCase()] = value
    try {
      const answer = await http.get({ url: source, headers, signal })
      try {
        const { status } = answer
        if (status < 200 || status > 299) throw failed('check the URL of the resource', `the server answered ${status}`)
        return await answer.bytes(MAX_RESOURCE_BYTES)
      } finally {
        await answer.close()
      }
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error
      throw failed(error.remedy, error.message, error.cause)
    }
  }
}
