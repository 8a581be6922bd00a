import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { UserError, defined } from '../base/runtime/index.js'
import { readDataUrl } from './rules/data-url-syntax.js'
import type { SpecResource } from './spec/config-types.js'

/** Fetches a URL other than a data URL. The caller decompresses. */
export type FetchResource = (resource: SpecResource) => Promise<Uint8Array>

/** Limit on a config or file, before and after decompression, since it is held in memory. */
export const MAX_RESOURCE_BYTES = 64 * 2 ** 20

/**
 * The bytes of a resource: fetched, decompressed, then verified by hash, in Ignition's order. Null for a resource
 * without a source.
 *
 * @throws UserError `ignition-resource`; its sentences leave out data URLs, which may hold secrets
 */
export async function resourceBytes(resource: SpecResource, fetch: FetchResource): Promise<Uint8Array | null> {
  const { source, compression } = resource
  if (!source) return source === '' ? new Uint8Array() : null
  const fetched = /^data:/i.test(source) ? fromDataUrl(source) : await fetch(resource)
  if (fetched.byteLength > MAX_RESOURCE_BYTES)
    throw ignitionResourceError(resource, `has more than ${MAX_RESOURCE_BYTES} bytes`)
  const bytes = compression === 'gzip' ? gunzipResource(fetched, resource) : fetched
  verifyResource(bytes, resource)
  return bytes
}

function fromDataUrl(source: string): Uint8Array {
  const reading = readDataUrl(source)
  if ('bytes' in reading) return reading.bytes
  throw new UserError('ignition-resource', 'a data URL of the config cannot be read', {
    remedy: 'ironstage ignition validate says where and why.',
  })
}

/** The output limit stops decompression bombs. */
function gunzipResource(bytes: Uint8Array, resource: SpecResource): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_RESOURCE_BYTES })
  } catch (cause) {
    const tooLarge = cause instanceof RangeError
    throw ignitionResourceError(
      resource,
      tooLarge ? `decompresses to more than ${MAX_RESOURCE_BYTES} bytes` : 'is not gzip',
      cause,
    )
  }
}

function verifyResource(bytes: Uint8Array, resource: SpecResource): void {
  const found = hashMismatch(bytes, resource)
  if (found) throw ignitionResourceError(resource, `failed verification: ${found}`)
}

/** Why the hash of a resource does not fit, in Ignition's words; null when it fits, or there is no hash. */
export function hashMismatch(bytes: Uint8Array, { verification }: SpecResource): string | null {
  const hash = verification?.hash
  if (hash === undefined) return null
  const dash = hash.indexOf('-')
  const expected = hash.slice(dash + 1).toLowerCase()
  const calculated = createHash(hash.slice(0, dash)).update(bytes).digest('hex')
  if (calculated === expected) return null
  return `hash verification failed (calculated ${calculated} but expected ${expected})`
}

const ignitionResourceError = (resource: SpecResource, why: string, cause?: unknown) =>
  new UserError('ignition-resource', `${describeResource(resource)} ${why}`, {
    remedy: 'Correct what the config refers to, or its compression and verification.',
    ...defined({ cause }),
  })

/** The URL for messages, without the parts that may hold a secret. */
export function describeResource({ source = '' }: SpecResource): string {
  if (/^data:/i.test(source)) return 'the content of a data URL'
  if (!URL.canParse(source)) return 'a resource of the config'
  const { protocol, host, pathname } = new URL(source)
  return `${protocol}//${host}${pathname}`
}
