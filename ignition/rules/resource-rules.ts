import type { ConfigPath, Findings } from '../findings.js'
import type { SpecHeader, SpecResource, SpecTang } from '../spec/config-types.js'
import { atLeast, type SpecVersion } from '../spec/spec-versions.js'
import { readDataUrl } from './data-url-syntax.js'
import { parseGoUrl, queryValues } from './go-url.js'

/** Ignition's message for a source that it cannot fetch; null for a valid one. */
export function urlFault(text: string, version: SpecVersion): string | null {
  const url = parseGoUrl(text)
  if (!url) return 'unable to parse url'
  switch (url.scheme) {
    case 'http':
    case 'https':
    case 'tftp':
      return null
    case 's3':
      return objectVersionFault(url.query)
    case 'data': {
      const reading = readDataUrl(text)
      return 'problem' in reading ? reading.problem : null
    }
    case 'gs':
      if (atLeast(version, '3.2.0')) return null
      break
    case 'arn':
      if (atLeast(version, '3.4.0')) return arnFault(`arn:${url.opaque}`) ?? objectVersionFault(url.query)
      break
  }
  return 'invalid url scheme'
}

const objectVersionFault = (query: string): string | null =>
  queryValues(query, 'versionId')[0] === '' ? 'invalid S3 object VersionId' : null

/** An object in S3: `arn:PARTITION:s3:REGION:ACCOUNT:RESOURCE`, the resource with a slash. */
function arnFault(arn: string): string | null {
  const [, , service, , , ...resource] = arn.split(':')
  const slashes = arn.split('/').length - 1
  const enough = resource.length > 0 && slashes >= (resource[0]!.startsWith('accesspoint/') ? 2 : 1)
  return service === 's3' && enough ? null : 'invalid S3 ARN format'
}

const optionalUrlFault = (text: string | undefined, version: SpecVersion): string | null =>
  text ? urlFault(text, version) : null

/** FileContents of 3.0.0 is a resource without HTTP headers. */
export function checkResource(resource: SpecResource, at: ConfigPath, found: Findings, version: SpecVersion): void {
  const { compression, source, verification, httpHeaders } = resource
  const known = compression === undefined || compression === '' || compression === 'gzip'
  found.error([...at, 'compression'], known ? null : 'invalid compression method')
  found.error(
    [...at, 'verification', 'hash'],
    verification?.hash !== undefined && source === undefined
      ? 'source must be specified if verification is specified'
      : null,
  )
  found.error([...at, 'source'], optionalUrlFault(source, version))
  found.error([...at, 'httpHeaders'], httpHeaders?.length ? headersFault(source) : null)
}

function headersFault(source: string | undefined): string | null {
  const url = source ? parseGoUrl(source) : null
  if (!url) return 'unable to parse url'
  return url.scheme === 'http' || url.scheme === 'https' ? null : 'cannot use HTTP headers with this source scheme'
}

/** References of 3.0.0. */
export function checkReference({ source }: SpecResource, at: ConfigPath, found: Findings, version: SpecVersion): void {
  found.error([...at, 'source'], optionalUrlFault(source, version))
}

/** Certificate authorities of 3.0.0. */
export function checkCaReference(
  { source = '' }: SpecResource,
  at: ConfigPath,
  found: Findings,
  version: SpecVersion,
): void {
  found.error([...at, 'source'], urlFault(source, version))
}

/** References from 3.1.0 on, whose source is required. */
export function checkSources(
  resources: readonly SpecResource[] | undefined,
  at: ConfigPath,
  found: Findings,
  version: SpecVersion,
): void {
  for (const [index, { source }] of (resources ?? []).entries())
    found.error([...at, index], source ? urlFault(source, version) : 'source is required')
}

export function checkHeader({ name, value }: { name?: string; value?: string }, at: ConfigPath, found: Findings): void {
  found.error([...at, 'name'], name ? null : "HTTP header name can't be empty")
  // A header without a value is legal: it removes the header of the parent config.
  found.error([...at, 'value'], value === '' ? 'unable to parse HTTP header' : null)
}

export function checkVerification(
  { hash }: { hash?: string },
  at: ConfigPath,
  found: Findings,
  version: SpecVersion,
): void {
  found.error([...at, 'hash'], hash === undefined ? null : hashFault(hash, version))
}

function hashFault(hash: string, version: SpecVersion): string | null {
  const dash = hash.indexOf('-')
  if (dash < 0) return 'malformed hash specifier'
  const digits = { sha512: 128, sha256: atLeast(version, '3.1.0') ? 64 : undefined }[hash.slice(0, dash)]
  if (digits === undefined) return 'unrecognized hash function'
  // Like Ignition, check only the length: digits that are not hexadecimal fail when the hash is compared.
  return Buffer.byteLength(hash.slice(dash + 1)) === digits ? null : 'incorrect size for hash sum'
}

export function checkProxy(
  { httpProxy, httpsProxy }: SpecHeader['proxy'] & object,
  at: ConfigPath,
  found: Findings,
): void {
  for (const [key, proxy] of [
    ['httpProxy', httpProxy],
    ['httpsProxy', httpsProxy],
  ] as const) {
    if (proxy === undefined) continue
    const url = parseGoUrl(proxy)
    if (!url) found.error([...at, key], 'unable to parse url')
    else if (url.scheme !== 'https' && url.scheme !== 'http') found.error([...at, key], 'proxies must be http(s)')
    else if (url.scheme === 'http' && key === 'httpsProxy')
      found.warning([...at, key], 'insecure plaintext HTTP proxy specified for HTTPS resources')
  }
}

export function checkTang({ url = '', thumbprint, advertisement }: SpecTang, at: ConfigPath, found: Findings): void {
  const parsed = parseGoUrl(url)
  const isHttp = parsed?.scheme === 'http' || parsed?.scheme === 'https'
  found.error([...at, 'url'], parsed ? (isHttp ? null : 'invalid url scheme') : 'unable to parse url')
  found.error([...at, 'thumbprint'], thumbprint ? null : 'thumbprint is required')
  found.error(
    [...at, 'advertisement'],
    advertisement && !isJsonText(advertisement) ? 'advertisement is not valid JSON' : null,
  )
}

function isJsonText(text: string): boolean {
  try {
    // Go refuses numbers that do not fit a float64.
    JSON.parse(text, (_, value: unknown) => {
      if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('out of range')
      return value
    })
    return true
  } catch {
    return false
  }
}
