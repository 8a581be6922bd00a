import { defined, packageVersion } from '../../base/runtime/index.js'
import type { ExchangeEntry, JournalEntry, JournalMessage } from '../../control/index.js'

/**
 * Exchanges as an HTTP archive (HAR 1.2), which browsers and proxies open. Times are in lab time.
 *
 * @param comment what a reader has to know of it
 */
export function makeHar(entries: readonly JournalEntry[], comment?: string): Readonly<Record<string, unknown>> {
  return {
    log: {
      version: '1.2',
      creator: { name: 'ironstage', version: packageVersion() },
      entries: entries.filter((entry) => entry.kind === 'exchange').map(archived),
      ...defined({ comment }),
    },
  }
}

function archived(entry: ExchangeEntry): Readonly<Record<string, unknown>> {
  const { from, to, method, target, status, error, duration, request, response, labTime, id, name, fault } = entry
  const [, query = ''] = target.split(/\?(.*)/s)
  // Lab time at the end of the exchange; an archive has the time at its beginning.
  const began = new Date(Date.parse(labTime) - duration).toISOString()
  return {
    startedDateTime: began,
    time: duration,
    request: {
      method,
      url: `http://${to}${target}`,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: headersOf(request),
      queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
      ...defined({
        postData: request.size > 0 ? { mimeType: contentTypeOf(request), text: formatHarBody(request) } : undefined,
      }),
      headersSize: -1,
      bodySize: request.size,
    },
    response: {
      // An exchange without an answer has the status 0, as in browsers.
      status: status ?? 0,
      statusText: error ?? '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: response ? headersOf(response) : [],
      content: {
        size: response?.size ?? 0,
        mimeType: response ? contentTypeOf(response) : '',
        text: response ? formatHarBody(response) : '',
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: response?.size ?? -1,
    },
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    comment: `${id}: ${from} to ${to}${name === null ? '' : `, ${name}`}${fault === null ? '' : `, ${fault}`}`,
  }
}

const headersOf = ({ headers }: JournalMessage) => Object.entries(headers).map(([name, value]) => ({ name, value }))

const contentTypeOf = ({ headers }: JournalMessage): string =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''

const formatHarBody = ({ body }: JournalMessage): string =>
  body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body)
