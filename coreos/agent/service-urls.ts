import { isIPv6 } from 'node:net'
import { maskedAddress } from '../../bytes/index.js'
import { UserError } from '../../runtime/index.js'

/** Where Ironic listens, and where its inspector did. */
const PORTS = { ironic: 6385, inspector: 5050 } as const

/** Of hosts that are named without a scheme. */
export type Scheme = 'http' | 'https'

const INSPECTION_PATHS = /\/v1\/continue(_inspection)?$/

/**
 * `api_url` of the agent: each URL with the port that Ironic has where it says none.
 *
 * @param given URLs, or hosts; several may be in one, between commas
 * @throws UserError for what is neither
 */
export const ironicUrls = (given: readonly string[], scheme: Scheme): string[] =>
  listed(given).map((text) => {
    const { start, port, path } = taken(text, scheme)
    return `${start}:${port ?? PORTS.ironic}${path}`
  })

/**
 * `inspection_callback_url` of the agent: to the inspector's `/v1/continue`, or to Ironic's own
 * `/v1/continue_inspection`, which has taken its place, where the URL says so.
 *
 * @throws UserError for what is no URL
 */
export const inspectionUrls = (given: readonly string[], scheme: Scheme): string[] =>
  listed(given).map((text) => {
    const { start, port, path } = taken(text, scheme)
    const [suffix, own] = INSPECTION_PATHS.exec(path) ?? []
    return `${start}:${port ?? (own === undefined ? PORTS.inspector : PORTS.ironic)}${path}${suffix === undefined ? '/v1/continue' : ''}`
  })

const listed = (given: readonly string[]): string[] =>
  given.flatMap((text) => text.split(',')).flatMap((text) => (text.trim() === '' ? [] : [text.trim()]))

function taken(text: string, scheme: Scheme): { start: string; port: string | undefined; path: string } {
  const whole = isIPv6(text) ? `${scheme}://[${text}]` : /^[a-z]+:\/\//i.test(text) ? text : `${scheme}://${text}`
  const [, start, port, path = ''] =
    /^(https?:\/\/(?:[^@/\s]*@)?(?:\[[0-9a-f:.]+\]|[^:/?#[\]\s@]+))(?::([0-9]+))?(\/[^?#\s]*)?$/i.exec(whole) ?? []
  if (start === undefined || !URL.canParse(whole))
    throw new UserError('agent-url', `${JSON.stringify(maskedAddress(text))} is no address of Ironic`, {
      kind: 'usage',
      remedy: 'give a URL like http://192.0.2.1:6385 or https://[2001:db8::1], or several between commas',
    })
  return { start, port, path: path.replace(/\/+$/, '') }
}
