import { GoUrlError, parseRequestUri, type GoUrl } from '../go/url.js'

/** Reads a URL as Go's url.ParseRequestURI does; the sentence of what is wrong with it. */
export function requestUriOf(text: string): GoUrl | string {
  try {
    return parseRequestUri(text)
  } catch (error) {
    if (error instanceof GoUrlError) return error.message
    throw error
  }
}

const SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ftp', 'gopher', 'oci'])

/** Problem of a URL from which something is fetched: validateURL of common_validation.go. */
export function urlProblem(text: string): string | undefined {
  const url = requestUriOf(text)
  if (typeof url === 'string') return url
  return SCHEMES.has(url.scheme) ? undefined : `invalid scheme in URL, "${url.scheme}" not allowed`
}
