import { isIP } from 'node:net'
import { goQuote } from './quote.js'

/** A URL as Go's net/url takes it apart. */
export interface GoUrl {
  /** In small letters. */
  scheme: string
  /** Rest after the scheme, where that begins with no slash. */
  opaque: string
  /** With the port; IPv6 in brackets. */
  host: string
  path: string
  query: string
}

/** An error of Go's net/url, in its words. */
export class GoUrlError extends Error {
  override name = 'GoUrlError'
}

const wrong = (problem: string): GoUrlError => new GoUrlError(problem)

/** `url.Parse` of Go. @throws GoUrlError */
export function parseUrl(text: string): GoUrl {
  const [beforeFragment = ''] = text.split('#', 1)
  return inParse(beforeFragment, () => readUrl(beforeFragment, false))
}

/** `url.ParseRequestURI` of Go: an absolute URL or an absolute path. @throws GoUrlError */
export const parseRequestUri = (text: string): GoUrl => inParse(text, () => readUrl(text, true))

function inParse(text: string, read: () => GoUrl): GoUrl {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error
    throw wrong(`parse ${goQuote(text)}: ${error.message}`)
  }
}

function readUrl(text: string, isRequest: boolean): GoUrl {
  if (/[\0-\x1f\x7f]/.test(text)) throw wrong('net/url: invalid control character in URL')
  if (text === '' && isRequest) throw wrong('empty url')
  if (text.startsWith(':')) throw wrong('missing protocol scheme')
  const named = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text)
  const scheme = (named?.[1] ?? '').toLowerCase()
  const afterScheme = named?.[2] ?? text
  const rest = afterScheme.replace(/\?.*$/s, '')
  const query = afterScheme.slice(rest.length + 1)
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { scheme, opaque: rest, host: '', path: '', query }
    if (isRequest && text !== '*') throw wrong('invalid URI for request')
    if (/^[^/]*:/.test(rest)) throw wrong('first path segment in URL cannot contain colon')
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || (!isRequest && !rest.startsWith('///')))
  const authority = hasAuthority ? /^[^/]*/.exec(rest.slice(2))![0] : ''
  const path = hasAuthority ? rest.slice(2 + authority.length) : rest
  const host = readHost(scheme, checkedAccount(authority))
  return { scheme, opaque: '', host, path: unescape(path), query }
}

/** The host of an authority, whose account is checked. */
function checkedAccount(authority: string): string {
  const at = authority.lastIndexOf('@')
  if (at < 0) return authority
  const account = authority.slice(0, at)
  if (!/^[\w.:~!$&'()*+,;=%@-]*$/.test(account)) throw wrong('net/url: invalid userinfo')
  unescape(account)
  return authority.slice(at + 1)
}

function readHost(scheme: string, host: string): string {
  const bracket = host.lastIndexOf('[')
  if (bracket > 0) throw wrong('invalid IP-literal')
  if (bracket === 0) return readLiteral(host)
  // Lists of hosts with ports are taken, but in http and https.
  const isStrict = scheme === 'http' || scheme === 'https'
  checkPort(/:.*$/s.exec(isStrict ? host : host.replace(/^.*(?=:)/s, ''))?.[0] ?? '')
  return hostUnescaped(host)
}

/** An IPv6 address in brackets, with a port. */
function readLiteral(host: string): string {
  const end = host.lastIndexOf(']')
  if (end < 0) throw wrong("missing ']' in host")
  const port = host.slice(end + 1)
  checkPort(port)
  const [address = '', ...zone] = host.slice(1, end).split('%25')
  const name = [hostUnescaped(address), ...zone.map((each) => unescape(each))].join('%')
  if (isIP(name) === 4) throw wrong('invalid IP-literal')
  if (isIP(name) !== 6) throw wrong(`invalid host: ParseAddr(${goQuote(name)}): unable to parse IP`)
  return `[${name}]${port}`
}

function checkPort(port: string): void {
  if (!/^(:\d*)?$/.test(port)) throw wrong(`invalid port ${goQuote(port)} after host`)
}

/** Bytes that a host name has as they are: shouldEscape of net/url. */
const HOST_CHARACTER = /[\w.~!$&'()*+,;=:[\]<>"-]/

function hostUnescaped(host: string): string {
  const refused = [...host].find((each) => each < '\x80' && each !== '%' && !HOST_CHARACTER.test(each))
  const escaped = /%(?!25)[0-7][0-9a-f]/i.exec(host)?.[0]
  const whole = unescape(host)
  if (escaped !== undefined) throw wrong(`invalid URL escape ${goQuote(escaped)}`)
  if (refused !== undefined) throw wrong(`invalid character ${goQuote(refused)} in host name`)
  return whole
}

function unescape(text: string): string {
  const bad = /%(?![0-9a-f]{2})/i.exec(text)
  if (bad) throw wrong(`invalid URL escape ${goQuote(text.slice(bad.index, bad.index + 3))}`)
  if (!text.includes('%')) return text
  const bytes = text.replaceAll(
    /%([0-9a-f]{2})|([^%]+)/gi,
    (_, escape?: string, plain = '') => escape ?? Buffer.from(String(plain)).toString('hex'),
  )
  return Buffer.from(bytes, 'hex').toString()
}

/** `Hostname()`: without port and brackets. */
export const hostNameOf = ({ host }: GoUrl): string => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/s, '$1')

/** `Port()`; empty without one. */
export const portOf = ({ host }: GoUrl): string => /:(\d*)$/.exec(host)?.[1] ?? ''
