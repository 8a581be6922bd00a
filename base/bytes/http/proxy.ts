import { BlockList, isIP } from 'node:net'

/** Proxies as environment variables name them, for those who fetch over HTTP. */
export interface ProxySettings {
  /** For URLs that begin with http. */
  http?: string
  /** For URLs that begin with https. */
  https?: string
  /** For URLs whose scheme has none of its own. */
  all?: string
  /** Hosts that are reached without one, between commas or blanks. */
  no?: string
}

type Variables = Readonly<Record<string, string | undefined>>

/**
 * The proxies that environment variables name: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, in small letters or in
 * capitals.
 */
export function proxiesOfVariables(variables: Variables): ProxySettings {
  const named = (name: string): string => variables[name] || variables[name.toUpperCase()] || ''
  return {
    // In a CGI program HTTP_PROXY is a header of the request. curl, Go and reqwest ignore it there too.
    http: variables['REQUEST_METHOD'] === undefined ? named('http_proxy') : variables['http_proxy'] || '',
    https: named('https_proxy'),
    all: named('all_proxy'),
    no: named('no_proxy'),
  }
}

/** The same proxies, but for what listens on this computer. */
export const beyondLoopback = (proxies: ProxySettings): ProxySettings => ({
  ...proxies,
  no: ['localhost', '127.0.0.0/8', '::1', proxies.no ?? ''].join(','),
})

/**
 * Through which proxy a URL is reached; undefined for none. Reached without one: `*` for all, a domain with those below
 * it (only those below after a dot), addresses, networks, each with or without a port.
 */
export function proxyFor(url: string, { http, https, all, no = '' }: ProxySettings): string | undefined {
  const { protocol, hostname, port } = new URL(url)
  const proxy = (protocol === 'https:' ? https : http) || all
  if (!proxy) return undefined
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  return no.split(/[\s,]+/).some((item) => isLeftOut(item.toLowerCase(), host, ownPort)) ? undefined : withScheme(proxy)
}

/** A proxy may be named by host and port alone, as in `proxy.example:3128`. */
const withScheme = (proxy: string): string => (/^[a-z][a-z\d+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`)

function isLeftOut(item: string, host: string, port: string): boolean {
  if (item === '') return false
  if (item === '*') return true
  const network = /^([0-9a-f.:]+)\/(\d+)$/.exec(item)
  if (network) return isIn(host, network[1]!, Number(network[2]))
  const [, name = item, onPort] = /^(.*?)(?::(\d+))?$/.exec(isIP(item) === 6 ? `[${item}]` : item) ?? []
  if (onPort !== undefined && onPort !== port) return false
  const bare = name.replace(/^\[|\]$/g, '')
  if (isIP(bare)) return bare === host
  if (bare.startsWith('*.')) return host.endsWith(bare.slice(1))
  return bare.startsWith('.') ? host.endsWith(bare) : host === bare || host.endsWith(`.${bare}`)
}

function isIn(host: string, network: string, bits: number): boolean {
  const family = isIP(host)
  if (family === 0 || isIP(network) !== family || bits > (family === 4 ? 32 : 128)) return false
  const list = new BlockList()
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  list.addSubnet(network, bits, kind)
  return list.check(host, kind)
}
