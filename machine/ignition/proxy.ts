import { BlockList, isIP } from 'node:net'

export interface ProxySettings {
  httpProxy?: string
  httpsProxy?: string
  noProxy?: string[]
}

/**
 * Through which proxy a URL is reached; undefined for none. Loopback never goes through one. What is left out: `*` for
 * all, a domain with those below it (only those below after a dot), addresses, networks, each with or without a port.
 */
export function proxyFor(url: string, { httpProxy, httpsProxy, noProxy = [] }: ProxySettings): string | undefined {
  const { protocol, hostname, port } = new URL(url)
  const proxy = protocol === 'https:' ? httpsProxy : httpProxy
  if (!proxy) return undefined
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))) return undefined
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  return noProxy.some((item) => isLeftOut(item.trim().toLowerCase(), host, ownPort)) ? undefined : proxy
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
  if (family === 0 || isIP(network) !== family) return false
  const list = new BlockList()
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  list.addSubnet(network, bits, kind)
  return list.check(host, kind)
}
