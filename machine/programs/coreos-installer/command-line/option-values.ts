/** Checks a URL, with the url crate's messages (recorded). */
export function checkUrl(value: string): string | undefined {
  if (URL.canParse(value)) return undefined
  if (!/^[a-z][a-z0-9+.-]*:/i.test(value)) return 'relative URL without a base'
  const authority = /^[^:]*:[/\\]*([^/?#\\]*)/.exec(value)![1]!
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (host === '' || host.startsWith(':')) return 'empty host'
  if (host.startsWith('[') && !/^\[[0-9a-f:.]+\](:|$)/i.test(host)) return 'invalid IPv6 address'
  const port = /:([^:\]]*)$/.exec(host)?.[1]
  if (port !== undefined && !(Number(port) <= 65535)) return 'invalid port number'
  return /^[0-9.]+$/.test(host) ? 'invalid IPv4 address' : 'invalid international domain name'
}

export const normalUrl = (value: string): string => new URL(value).href

export function checkDigest(value: string): string | undefined {
  const dash = value.indexOf('-')
  if (dash < 0) return `failed to detect hash-type and digest in '${value}'`
  const type = value.slice(0, dash)
  const digits = { sha256: 64, sha512: 128 }[type]
  if (digits === undefined) return `unknown hash type '${type}'`
  const hex = value.slice(dash + 1)
  if (!/^([0-9a-f]{2})*$/i.test(hex)) return 'decoding hex digest'
  return hex.length === digits ? undefined : `wrong digest length (${hex.length * 4})`
}

/** Checks a number of 32 bits, with Rust's messages. */
export function checkNumber(value: string): string | undefined {
  if (value === '') return 'cannot parse integer from empty string'
  if (!/^\+?\d+$/.test(value)) return 'invalid digit found in string'
  return Number(value) <= 0xffffffff ? undefined : 'number too large to fit in target type'
}

export const checkRetries = (value: string): string | undefined =>
  value === 'infinite' ? undefined : checkNumber(value)
