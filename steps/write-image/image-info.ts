import { ownMember } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { schemaCheck, type SchemaCheck } from '../../base/schemas/index.js'
import { StepError, type ImageRules } from '../sdk/step.js'

export type ChecksumAlgorithm = 'md5' | 'sha1' | 'sha256' | 'sha512'

/** Image to write, as Ironic describes it to an agent. */
export interface ImageInfo {
  id: string
  /** http, https or file; tried in this order. */
  urls: string[]
  /** Format according to Ironic; null lets the image's bytes decide. */
  format: 'raw' | 'qcow2' | null
  /** Expected digest, or the URL of a file of digests; the length of the digest says the algorithm if Ironic does not. */
  checksum: { algorithm: ChecksumAlgorithm; digest: string } | { url: string; algorithm: ChecksumAlgorithm | null }
  /** The header of that name for the server of the image. */
  authorization: string | undefined
}

interface Raw {
  id: string
  urls: string[]
  disk_format?: string | null
  image_type?: string | null
  checksum?: string | null
  os_hash_algo?: string | null
  os_hash_value?: string | null
  image_request_authorization?: string | null
}

const imageInfoText = { type: ['string', 'null'] }
const imageInfoShape: SchemaCheck<Raw> = schemaCheck({
  type: 'object',
  required: ['id', 'urls'],
  properties: {
    id: { type: 'string', minLength: 1 },
    urls: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^(https?|file)://' } },
    disk_format: imageInfoText,
    image_type: imageInfoText,
    checksum: imageInfoText,
    os_hash_algo: imageInfoText,
    os_hash_value: imageInfoText,
    image_request_authorization: imageInfoText,
  },
})

/**
 * Formats by Ironic's names; a conductor that inspects images calls a raw one `gpt` or `iso`, and one of a container registry
 * `unknown` if only its digest is given.
 */
const IMAGE_FORMATS: Readonly<Record<string, 'raw' | 'qcow2' | null | undefined>> = {
  unknown: null,
  raw: 'raw',
  gpt: 'raw',
  iso: 'raw',
  qcow2: 'qcow2',
}

const CHECKSUM_LENGTHS: Readonly<Record<ChecksumAlgorithm, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 }

/**
 * Reads `image_info`.
 *
 * @throws StepError when the image is not of a whole disk, or has no checksum
 */
export function readImageInfo(info: JsonObject, rules: ImageRules | undefined): ImageInfo {
  if (!imageInfoShape.accepts(info)) {
    const [error] = imageInfoShape.errors()
    throw new StepError(`image_info cannot be used: ${error?.instancePath || 'it'} ${error?.message ?? 'is wrong'}`)
  }
  const { id, urls, disk_format: format, image_type: type, image_request_authorization: encoded } = info
  if (type && type !== 'whole-disk')
    throw new StepError(`image_info has the image_type ${type}: only images of whole disks are written`)
  const known = format ? ownMember(IMAGE_FORMATS, format) : null
  if (known === undefined)
    throw new StepError(`image_info has the disk_format ${format}: only raw and qcow2 are written`)
  const authorization = encoded ? Buffer.from(encoded, 'base64').toString() : undefined
  return { id, urls, format: known, checksum: checksumOf(info, rules), authorization }
}

function checksumOf(
  { checksum, os_hash_algo: name, os_hash_value: value }: Raw,
  rules: ImageRules | undefined,
): ImageInfo['checksum'] {
  if (name && value) {
    const algorithm = (['md5', 'sha1', 'sha256', 'sha512'] as const).find((known) => known === name.toLowerCase())
    if (!algorithm) throw new StepError(`image_info has the os_hash_algo ${name}, which is not known`)
    checkAlgorithm(algorithm, rules)
    return isUrl(value) ? { url: value, algorithm } : { algorithm, digest: checkHexDigest(value) }
  }
  if (!checksum)
    throw new StepError('image_info has no checksum, or os_hash_algo and os_hash_value, to verify the image by')
  if (isUrl(checksum)) return { url: checksum, algorithm: null }
  const digest = checkHexDigest(checksum)
  const algorithm = algorithmOf(digest)
  if (!algorithm) throw new StepError('image_info has a checksum of an unknown length')
  return { algorithm: checkAlgorithm(algorithm, rules), digest }
}

const isUrl = (checksum: string): boolean => /^(https?|file):\/\//.test(checksum)

/** Algorithm of a digest, from its length, since a list of checksums does not name it. */
export const algorithmOf = (digest: string): ChecksumAlgorithm | undefined =>
  (['md5', 'sha1', 'sha256', 'sha512'] as const).find((algorithm) => CHECKSUM_LENGTHS[algorithm] === digest.length)

function checkHexDigest(digest: string): string {
  if (/^[0-9a-f]+$/i.test(digest)) return digest.toLowerCase()
  throw new StepError('the checksum in image_info is not hexadecimal')
}

/** Refuses MD5 unless Ironic permits it, as ironic-python-agent does. */
export function checkAlgorithm(algorithm: ChecksumAlgorithm, rules: ImageRules | undefined): ChecksumAlgorithm {
  if (algorithm === 'md5' && !rules?.md5)
    throw new StepError('the image has an MD5 checksum, which is not accepted: give a SHA-256 or SHA-512 checksum')
  return algorithm
}
