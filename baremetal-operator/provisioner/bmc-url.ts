import { isIP } from 'node:net'
import { GoUrlError, hostNameOf, parseUrl, type GoUrl } from '../go/url.js'

/** `spec.bmc.address` taken apart: GetParsedURL of pkg/hardwareutils/bmc/access.go. @throws GoUrlError */
export function parseBmcUrl(address: string): GoUrl {
  const url = withContext(() => readBmcUrl(address))
  const host = hostNameOf(url)
  if (host === '' || isIP(host) !== 0 || HOST_NAME.test(host)) return url
  throw new GoUrlError(`${CONTEXT}: BMC address hostname/IP : [${host}] is invalid`)
}

const CONTEXT = 'failed to parse BMC address information'

const HOST_NAME = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

function withContext(read: () => GoUrl): GoUrl {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error
    throw new GoUrlError(`${CONTEXT}: ${error.message}`)
  }
}

/** An address without a scheme is one of IPMI; `SCHEME:HOST` is read as `SCHEME://HOST`. */
function readBmcUrl(address: string): GoUrl {
  let url: GoUrl
  try {
    url = parseUrl(address)
  } catch (error) {
    if (address.includes(':') && !isHostAndPort(address)) throw error
    return { scheme: 'ipmi', opaque: '', host: address, path: '', query: '' }
  }
  if (url.opaque !== '') return parseUrl(address.replace(':', '://'))
  return url.scheme === '' && url.host === '' ? parseUrl(`ipmi://${address}`) : url
}

/** net.SplitHostPort of Go. */
const isHostAndPort = (text: string): boolean => /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(text)
