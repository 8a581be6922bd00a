/**
 * A URL as it may be shown: user, password and every value of its query masked, since signed URLs carry their secret
 * there.
 */
export function maskedUrl(url: string): string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    return '(not a URL)'
  }
  const { protocol, host, pathname, search, username, password } = parsed
  const user = username === '' && password === '' ? '' : '******@'
  const query = search.replace(/=[^&]*/g, '=******')
  return `${protocol}//${user}${host}${pathname}${query}`
}

/** Where coreos-installer looks for the signature of an image: `.sig` behind the path, the query kept. */
export function signatureUrlOf(url: string): string {
  const signature = new URL(url)
  signature.pathname += '.sig'
  return signature.href
}
