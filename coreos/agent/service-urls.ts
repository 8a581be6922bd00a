import { isIPv6 } from 'node:net'
import { maskedAddress } from '../../base/bytes/index.js'
import { UserError } from '../../base/runtime/index.js'

/** Default ports of Ironic and of the former ironic-inspector. */
const PORTS = { ironic: 6385, inspector: 5050 } as const

/** Scheme for hosts that are named without one. */
export type Scheme = 'http' | 'https'

const INSPECTION_PATHS = /\/v1\/continue(_inspection)?$/

/**
 * `api_url` of the agent: the URLs, with Ironic's default port where one has none.
 *
 * @param addresses URLs or hosts; one text may hold several, separated by commas
 * @throws UserError for a text that is neither
 */
export const ironicUrls = (addresses: readonly string[], scheme: Scheme): string[] =>
  splitAtCommas(addresses).map((text) => {
    const { start, port, path } = parseAddress(text, scheme)
    return `${start}:${port ?? PORTS.ironic}${path}`
  })

/**
 * `inspection_callback_url` of the agent: the inspector's `/v1/continue`, or Ironic's own `/v1/continue_inspection`,
 * which replaced it, where the URL has that path.
 *
 * @throws UserError for an invalid URL
 */
export const inspectionUrls = (addresses: readonly string[], scheme: Scheme): string[] =>
  splitAtCommas(addresses).map((text) => {
    const { start, port, path } = parseAddress(text, scheme)
    const [suffix, own] = INSPECTION_PATHS.exec(path) ?? []
    return `${start}:${port ?? (own === undefined ? PORTS.inspector : PORTS.ironic)}${path}${suffix === undefined ? '/v1/continue' : ''}`
  })

const splitAtCommas = (addresses: readonly string[]): string[] =>
  addresses.flatMap((text) => text.split(',')).flatMap((text) => (text.trim() === '' ? [] : [text.trim()]))

function parseAddress(text: string, scheme: Scheme): { start: string; port: string | undefined; path: string } {
  const whole = isIPv6(text) ? `${scheme}://[${text}]` : /^[a-z]+:\/\//i.test(text) ? text : `${scheme}://${text}`
  const [, start, port, path = ''] =
    /^(https?:\/\/(?:[^@/\s]*@)?(?:\[[0-9a-f:.]+\]|[^:/?#[\]\s@]+))(?::([0-9]+))?(\/[^?#\s]*)?$/i.exec(whole) ?? []
  if (start === undefined || !URL.canParse(whole))
    throw new UserError('agent-url', `${JSON.stringify(maskedAddress(text))} is not an address of Ironic`, {
      kind: 'usage',
      remedy: 'give a URL like http://192.0.2.1:6385 or https://[2001:db8::1], or several separated by commas',
    })
  return { start, port, path: path.replace(/\/+$/, '') }
}
