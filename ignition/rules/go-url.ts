import { isIPv6 } from 'node:net'

/** The parts of a URL that Ignition checks. */
export interface GoUrl {
  /** In lower case, empty when there is none. */
  scheme: string
  /** The part after the scheme when it does not begin with a slash, as in Go's url.URL. */
  opaque: string
  query: string
}

/**
 * Parses a URL as Go's net/url does, which accepts more than WHATWG's rules and refuses other texts; null for one that
 * it cannot parse.
 */
export function parseGoUrl(text: string): GoUrl | null {
  const hash = text.indexOf('#')
  const url = hash < 0 ? text : text.slice(0, hash)

  if (/[\x00-\x1f\x7f]/.test(url)) return null
  if (!escapesAreWhole(hash < 0 ? '' : text.slice(hash + 1))) return null
  if (url.startsWith(':')) return null
  const [, prefix = '', afterScheme = url] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? []
  const scheme = prefix.toLowerCase()
  const mark = afterScheme.indexOf('?')
  const rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1)
  if (!rest.startsWith('/') && scheme) return { scheme, opaque: rest, query }
  if (!rest.startsWith('/') && rest.split('/', 1)[0]!.includes(':')) return null
  let path = rest
  if (rest.startsWith('//') && (scheme || !rest.startsWith('///'))) {
    const slash = rest.indexOf('/', 2)
    path = slash < 0 ? '' : rest.slice(slash)
    if (!isAuthority(slash < 0 ? rest.slice(2) : rest.slice(2, slash), scheme)) return null
  }
  return escapesAreWhole(path) ? { scheme, opaque: '', query } : null
}

/** The values of one key of a query; pairs that cannot be decoded are passed over, as Go does. */
export function queryValues(query: string, key: string): string[] {
  return query.split('&').flatMap((pair) => {
    if (pair === '' || pair.includes(';') || !escapesAreWhole(pair)) return []
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    return unescaped(name) === key ? [equals < 0 ? '' : unescaped(pair.slice(equals + 1))] : []
  })
}

const unescaped = (text: string): string =>
  Buffer.from(
    text
      .replaceAll('+', ' ')
      .split(/((?:%[\da-f]{2})+)/i)
      .map((part, i) => (i % 2 ? part.replaceAll('%', '') : Buffer.from(part).toString('hex')))
      .join(''),
    'hex',
  ).toString()

const escapesAreWhole = (text: string): boolean => !/%(?![\da-f]{2})/i.test(text)

function isAuthority(authority: string, scheme: string): boolean {
  const at = authority.lastIndexOf('@')
  if (at >= 0) {
    const user = authority.slice(0, at)
    if (!/^[\w.~!$&'()*+,;=:%@-]*$/.test(user) || !escapesAreWhole(user)) return false
  }
  return isHost(authority.slice(at + 1), scheme)
}

function isHost(host: string, scheme: string): boolean {
  const bracket = host.lastIndexOf('[')
  if (bracket > 0) return false
  if (bracket === 0) {
    const close = host.lastIndexOf(']')
    return close > 0 && isOptionalPort(host.slice(close + 1)) && isAddress(host.slice(1, close))
  }
  // An http(s) host has no further colons; other schemes may list hosts with ports (go.dev/issue/75223).
  const strict = scheme === 'http' || scheme === 'https'
  const colon = strict ? host.indexOf(':') : host.lastIndexOf(':')
  if (colon >= 0 && !isOptionalPort(host.slice(colon))) return false
  return isHostText(host)
}

const isOptionalPort = (text: string): boolean => /^(:\d*)?$/.test(text)

/** True if a host is legal: its escapes may only be bytes that are not ASCII, or the percent sign of a zone. */
const isHostText = (text: string): boolean =>
  !/[^\w.~!$&'()*+,;=:[\]<>"\-\u0080-\uffff]/.test(text.replaceAll(/%(?:25|[89a-f][\da-f])/gi, ''))

/** True if the text in brackets is an IPv6 address, with or without a zone after an escaped percent sign. */
function isAddress(text: string): boolean {
  const zone = text.indexOf('%25')
  if (zone < 0) return isIPv6(text)
  if (!isIPv6(text.slice(0, zone)) || text.length === zone + 3) return false
  // A zone may also have escaped spaces, and escaped characters that are legal in a host.
  const plain = text.slice(zone + 3).replaceAll(/%[2-7][\da-f]/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return character === ' ' || character === '%' ? '_' : character
  })
  return isHostText(plain)
}
