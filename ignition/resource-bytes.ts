import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { UserError } from '../runtime/index.js'
import { readDataUrl } from './rules/data-url-syntax.js'
import type { SpecResource } from './spec/config-types.js'

/** Gets what a URL other than a data URL leads to, as it is there: compression is undone by who asks. */
export type Fetch = (resource: SpecResource) => Promise<Uint8Array>

/** A whole config or file is held in memory: more than this is refused, whatever it was compressed to. */
export const LARGEST_RESOURCE = 64 * 2 ** 20

/**
 * What a resource stands for: fetched, decompressed, its hash held against what was asked, in Ignition's order. Null
 * for one without a source.
 *
 * @throws UserError `ignition-resource`; its sentences leave out data URLs, which may hold secrets
 */
export async function resourceBytes(resource: SpecResource, fetch: Fetch): Promise<Uint8Array | null> {
  const { source, compression } = resource
  if (!source) return source === '' ? new Uint8Array() : null
  const given = /^data:/i.test(source) ? fromDataUrl(source) : await fetch(resource)
  if (given.byteLength > LARGEST_RESOURCE) throw wrong(resource, `has more than ${LARGEST_RESOURCE} bytes`)
  const bytes = compression === 'gzip' ? gunzip(given, resource) : given
  verify(bytes, resource)
  return bytes
}

function fromDataUrl(source: string): Uint8Array {
  const reading = readDataUrl(source)
  if ('bytes' in reading) return reading.bytes
  throw new UserError('ignition-resource', 'a data URL of the config cannot be read', {
    remedy: 'ironstage ignition validate says where and why.',
  })
}

/** A bomb stops at the limit: zlib is told to produce no more. */
function gunzip(bytes: Uint8Array, resource: SpecResource): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: LARGEST_RESOURCE })
  } catch (cause) {
    const tooLarge = cause instanceof RangeError
    throw wrong(resource, tooLarge ? `decompresses to more than ${LARGEST_RESOURCE} bytes` : 'is not gzip', cause)
  }
}

function verify(bytes: Uint8Array, resource: SpecResource): void {
  const hash = resource.verification?.hash
  if (hash === undefined) return
  const dash = hash.indexOf('-')
  const expected = hash.slice(dash + 1)
  const calculated = createHash(hash.slice(0, dash)).update(bytes).digest('hex')
  if (calculated !== expected)
    throw wrong(
      resource,
      `failed verification: hash verification failed (calculated ${calculated} but expected ${expected})`,
    )
}

const wrong = (resource: SpecResource, why: string, cause?: unknown) =>
  new UserError('ignition-resource', `${nameOf(resource)} ${why}`, {
    remedy: 'Correct what the config refers to, or its compression and verification.',
    ...(cause === undefined ? {} : { cause }),
  })

/** For messages: the URL without what may be a secret in it. */
export function nameOf({ source = '' }: SpecResource): string {
  if (/^data:/i.test(source)) return 'what a data URL holds'
  if (!URL.canParse(source)) return 'a resource of the config'
  const { protocol, host, pathname } = new URL(source)
  return `${protocol}//${host}${pathname}`
}
