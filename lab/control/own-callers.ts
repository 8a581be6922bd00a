import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { isLoopback } from '../../bytes/index.js'
import type { Guard } from '../../ironic-mock/index.js'
import type { ErrorCode } from '../../runtime/index.js'
import type { WireRequest, WireResponse } from '../../wire/index.js'

export interface OwnCallersOptions {
  /** Address that the API listens on. */
  host: string
  /** Its URL for clients, where that is another than the one that it listens on: that of a proxy. */
  publicUrl?: string | null
  /** Further names of its host. */
  names?: readonly string[]
  /** Asks for a password. */
  guard?: Guard
}

/**
 * Refuses calls that a web page of another server makes through a browser on this host: such a page could erase the machines.
 * The browser says in `Origin` where a page comes from, also for the calls that it sends without asking the server first.
 *
 * A page whose name was made to lead to this host (DNS rebinding) is of the same origin, so a name that is not known to be
 * this host's is refused too. That matters only for an API on loopback without passwords: the page knows no password, and
 * on other addresses programs call by names that this host does not know, as those of a container network.
 */
export function ownCallers({ host, publicUrl = null, names = [], guard }: OwnCallersOptions): Guard {
  const publicAt = publicUrl === null ? null : new URL(publicUrl)
  const known = new Set([host, hostname(), ...names, ...(publicAt ? [publicAt.hostname] : [])].map(plain))
  const checksHost = !guard && isLoopback(host)
  return (request) => {
    const { host: asked, origin } = request.headers
    // Every browser names the host. Calls within this process, and those of HTTP/1.0, come from none.
    if (asked === undefined) return guard?.(request) ?? Promise.resolve(undefined)
    if (origin !== undefined && !isOneOf([request.base, publicAt?.href], origin))
      return Promise.resolve(foreignPage(origin, request))
    const name = nameIn(asked)
    if (checksHost && !(name !== undefined && (isOwn(name) || known.has(name))))
      return Promise.resolve(unknownHost(asked))
    return guard?.(request) ?? Promise.resolve(undefined)
  }
}

/** No name server is asked for these: RFC 6761 keeps `localhost` and all names below it for the host itself. */
const isOwn = (name: string): boolean => isIP(name) !== 0 || /^(.+\.)?localhost$/.test(name)

const plain = (name: string): string => name.toLowerCase().replace(/^\[|\]$|\.$/g, '')

/** The host of a `Host` header without its port; undefined for what is no host. */
function nameIn(header: string): string | undefined {
  const [, name] = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]]+)(?::\d+)?$/i.exec(header) ?? []
  return name === undefined ? undefined : plain(name)
}

/** Whether an origin is that of one of some URLs. Sandboxed pages and files have `null`, which is none. */
function isOneOf(urls: readonly (string | undefined)[], origin: string): boolean {
  const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : undefined)
  const asked = originOf(origin)
  return asked !== undefined && urls.some((url) => url !== undefined && originOf(url) === asked)
}

const foreignPage = (origin: string, { base }: WireRequest): WireResponse =>
  refusal('foreign-page', `a web page of ${origin} may not call the control API of ${base}`, {
    remedy: 'open the dashboard of this server; behind a proxy, set [api]public_endpoint to the URL that browsers have',
  })

const unknownHost = (name: string): WireResponse =>
  refusal('unknown-host', `the control API does not know ${name} as a name of its host`, {
    remedy:
      'call it by its IP address or as localhost; another name is known from [api]public_endpoint, or --advertise of a fleet',
  })

const refusal = (code: ErrorCode, message: string, { remedy }: { remedy: string }): WireResponse => ({
  status: 403,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: { code, message, remedy } }),
})
