import { BlockList, isIP } from 'node:net'

export interface ProxySettings {
  /** For URLs that begin with http. */
  http?: string
  /** For URLs that begin with https. */
  https?: string
  /** Hosts that are reached without one, between commas or blanks. */
  no?: string
}

/**
 * Through which proxy a URL is reached; undefined for none. Reached without one: `*` for all, a domain with those below
 * it (only those below after a dot), addresses, networks, each with or without a port.
 */
export function proxyFor(url: string, { http, https, no = '' }: ProxySettings): string | undefined {
  const { protocol, hostname, port } = new URL(url)
  const proxy = protocol === 'https:' ? https : http
  if (!proxy) return undefined
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  return no.split(/[\s,]+/).some((item) => isLeftOut(item.toLowerCase(), host, ownPort)) ? undefined : proxy
}

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
