import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { isLoopback } from '../url.js'

/** Rules for the callers that a server answers. */
export interface CallerRules {
  /** Address that it listens on. */
  readonly host: string
  /** Names by which clients may call besides this host's own; on addresses other than loopback, these alone and IP addresses. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Its URL for clients, where that is another than the one that it listens on: that of a proxy. */
  readonly publicUrl?: string | null | undefined
  /** Whether it asks for a password or token, which no page of another server knows. */
  readonly asksPassword?: boolean | undefined
}

/** A request as far as it tells its caller. */
export interface CallerRequest {
  readonly method: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Scheme and authority by which it came, as `http://localhost:6385`. */
  readonly base: string
}

export interface CallerRefusal {
  readonly code: 'foreign-page' | 'unknown-host'
  readonly message: string
  readonly remedy: string
}

/**
 * Refuses requests that a web page of another server makes through a browser on this host: such a page could read Secrets and
 * erase machines. The browser says in `Origin` and `Sec-Fetch-Site` where a page comes from, also for requests that it sends
 * without asking the server first.
 *
 * A page whose name was made to lead to this host (DNS rebinding) is of the same origin, so a name that is not known to be
 * this host's is refused too. That matters only for a server on loopback without passwords: the page knows no password, and
 * on other addresses programs call by names that this host does not know, as those of a container network.
 */
export function callerCheck(rules: CallerRules): (request: CallerRequest) => CallerRefusal | undefined {
  const { host, allowedHosts = [], publicUrl = null, asksPassword = false } = rules
  const publicAt = publicUrl !== null && URL.canParse(publicUrl) ? new URL(publicUrl) : null
  const known = new Set([host, hostname(), ...allowedHosts, ...(publicAt ? [publicAt.hostname] : [])].map(plainName))
  const checksHost = !asksPassword && (isLoopback(host) || allowedHosts.length > 0)
  return (request) => {
    const asked = textOf(request.headers['host'])
    // Every browser names the host. Calls within this process, and those of HTTP/1.0, come from none.
    if (asked === undefined) return undefined
    const origin = textOf(request.headers['origin'])
    if (origin !== undefined && !isOneOf([request.base, publicAt?.href], origin))
      return foreignPage(quoted(origin), request)
    if (isOfAnotherSite(request, origin)) return foreignPage('another server', request)
    if (!checksHost) return undefined
    const name = nameIn(asked)
    return name !== undefined && (isOwn(name) || known.has(name)) ? undefined : unknownHost(asked, request)
  }
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header

/** Whether a page of another site loads something here. A link that a person follows is none, nor is a known origin. */
function isOfAnotherSite({ method, headers }: CallerRequest, origin: string | undefined): boolean {
  const site = headers['sec-fetch-site']
  if (origin !== undefined || (site !== 'cross-site' && site !== 'same-site')) return false
  const isFollowed = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return !(isFollowed && (method === 'GET' || method === 'HEAD'))
}

/** No name server is asked for these: RFC 6761 keeps `localhost` and all names below it for the host itself. */
const isOwn = (name: string): boolean => isIP(name) !== 0 || /^(.+\.)?localhost$/.test(name)

const plainName = (name: string): string => name.toLowerCase().replace(/^\[|\]$|\.$/g, '')

/** The host of a `Host` header without its port; undefined for what is no host. */
function nameIn(header: string): string | undefined {
  const [, name] = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]]+)(?::\d+)?$/i.exec(header) ?? []
  return name === undefined ? undefined : plainName(name)
}

/** Whether an origin is that of one of some URLs. Sandboxed pages and files have `null`, which is none. */
function isOneOf(urls: readonly (string | undefined)[], origin: string): boolean {
  const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : undefined)
  const asked = originOf(origin)
  return asked !== undefined && urls.some((url) => url !== undefined && originOf(url) === asked)
}

const foreignPage = (server: string, { base }: CallerRequest): CallerRefusal => ({
  code: 'foreign-page',
  message: `a web page of ${server} may not call ${quoted(base)}`,
  remedy: 'open the dashboard of this server; behind a proxy, set [api]public_endpoint to the URL that browsers have',
})

const unknownHost = (name: string, { base }: CallerRequest): CallerRefusal => ({
  code: 'unknown-host',
  message: `${quoted(name)} is not known as a name of this host, so ${quoted(base)} is not answered`,
  remedy:
    'call it by its IP address or as localhost; ironstage up and other servers take further names with --allowed-host',
})

/** A header as a sentence may repeat it. */
const quoted = (text: string): string => text.slice(0, 200).replaceAll(/[^!-~]/g, '?')

/** A refusal as a sentence. */
export const callerSentence = ({ message, remedy }: CallerRefusal): string => `${message}: ${remedy}`
