/**
 * A URL for logs and messages: user, password and every value of its query masked, since signed URLs carry their secret
 * there. The contents of a data URL are left out.
 */
export function maskedUrl(url: string): string {
  if (/^data:/i.test(url)) return 'data:...'
  if (!URL.canParse(url)) return '(not a URL)'
  const { protocol, host, pathname, search, username, password } = new URL(url)
  const user = username === '' && password === '' ? '' : '******@'
  const query = search.replace(/=[^&]*/g, '=******')
  return `${protocol}//${user}${host}${pathname}${query}`
}

/** Masks the passwords of the URLs in a text, also passwords that contain an `@`. */
export const withoutPasswords = (text: string): string => text.replace(/(\/\/[^/\s:@]*):[^/\s"'<>]*@/g, '$1:******@')

/** An address that may be no URL, for messages: everything before its last `@` masked. */
export const maskedAddress = (address: string): string =>
  address.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, (_, scheme: string | undefined) => `${scheme ?? ''}******@`)

/** Addresses between commas, each as {@link maskedAddress}. A comma without a scheme after it may be part of a password. */
export const maskedAddresses = (addresses: string): string =>
  addresses
    .split(/,(?=\s*[a-z][a-z\d+.-]*:\/\/)/i)
    .map(maskedAddress)
    .join(',')

/** A URL without its user and password, and the Basic credentials that these make; null when it names no user. */
export function splitCredentials(url: string | URL): { url: URL; authorization: string | null } {
  const plain = new URL(url)
  const { username, password } = plain
  if (username === '' && password === '') return { url: plain, authorization: null }
  plain.username = plain.password = ''
  const account = { username: decodeEscapes(username), password: decodeEscapes(password) }
  return { url: plain, authorization: basicAuthorization(account) }
}

/** Value of an `Authorization` header with Basic credentials (RFC 7617), in UTF-8. A name must have no colon. */
export const basicAuthorization = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/** A text of a URL without its percent-escapes; unchanged if one of them is malformed. */
export function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `host:port` of a URL, with an IPv6 address in brackets. */
export const authority = (host: string, port: number): string => `${bracketHost(host)}:${port}`

/** A host as URLs have it: an IPv6 address in brackets. */
export const bracketHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** True if a host, as a URL has it or plain, is reached by programs of this computer alone. */
export const isLoopback = (host: string): boolean => /^(localhost\.?|127(\.\d+){3}|\[::1\]|::1)$/i.test(host)
