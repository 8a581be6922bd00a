import { getHashes } from 'node:crypto'
import { findListedDigest, type ListedDigest } from '../../../base/wire/index.js'
import type { ConductorConf } from './conductor-conf.js'

/** Checksum of `instance_info`, which the conductor compares with an image that it reads itself. */
export interface ImageChecksum {
  readonly value: string
  /** `image_os_hash_algo`; null if the checksum is `image_checksum`, whose length tells the algorithm. */
  readonly algorithm: string | null
  /** True for `image_checksum`, which may be the URL of a file of checksums. */
  readonly mayBeUrl: boolean
}

/** A digest that an image must have. */
export interface ExpectedDigest {
  readonly algorithm: string
  readonly digest: string
}

export type ChecksumRules = Pick<ConductorConf, 'allowMd5Checksum' | 'disableChecksumFiles' | 'disableFileChecksum'>

// In the words of ironic 39.0.0 common/exception.py.
export const WRONG_CHECKSUM = 'The supplied image checksum is invalid or does not match.'
const NO_ALGORITHM = 'The requested image checksum algorithm cannot be loaded.'
const NO_CHECKSUM_FILES = 'Use of remote checksum files is not supported.'

/** Digits of SHA-256 and SHA-512; a checksum of any other length is taken for an MD5. */
const ALGORITHM_BY_LENGTH: Readonly<Record<number, string>> = { 64: 'sha256', 128: 'sha512' }
const MD5_LENGTH = 32

/**
 * The digest that ironic 39.0.0 expects: common/checksum_utils.py get_checksum_and_algo, and the beginning of
 * validate_checksum.
 *
 * @param image URL of the image
 * @param fetchText fetches a file of checksums
 * @throws Error in Ironic's words
 */
export async function expectedDigest(
  { value, algorithm: named, mayBeUrl }: ImageChecksum,
  image: string,
  rules: ChecksumRules,
  fetchText: (url: string) => Promise<string>,
): Promise<ExpectedDigest> {
  const checksum = mayBeUrl && /^https?:\/\//.test(value) ? await listedChecksum(value, image, rules, fetchText) : value
  if (mayBeUrl && checksum.length === MD5_LENGTH && !rules.allowMd5Checksum) throw new Error(NO_ALGORITHM)
  // As in ansible's form: sha256:DIGEST.
  const [first = '', second] = checksum.split(':')
  const prefix = second === undefined ? undefined : first
  const digest = second ?? first
  if (digest === '') throw new Error(WRONG_CHECKSUM)
  const byLength = mayBeUrl ? ALGORITHM_BY_LENGTH[checksum.length] : undefined
  const algorithm = (prefix || named || byLength || 'md5').toLowerCase()
  if (!getHashes().includes(algorithm)) throw new Error(NO_ALGORITHM)
  return { algorithm, digest: digest.toLowerCase() }
}

/** Ironic checks a download as it comes, and does not do that with MD5 where that is not allowed (TransferHelper). */
export function checkDownloadAlgorithm({ algorithm }: ExpectedDigest, { allowMd5Checksum }: ChecksumRules): void {
  if (algorithm === 'md5' && !allowMd5Checksum) throw new Error(NO_ALGORITHM)
}

/** @throws Error in Ironic's words if a digest differs */
export function checkDigest(expected: ExpectedDigest, digest: string): void {
  if (digest.toLowerCase() !== expected.digest) throw new Error(WRONG_CHECKSUM)
}

async function listedChecksum(
  url: string,
  image: string,
  { disableChecksumFiles }: ChecksumRules,
  fetchText: (url: string) => Promise<string>,
): Promise<string> {
  if (disableChecksumFiles) throw new Error(NO_CHECKSUM_FILES)
  const found = findListedDigest(await fetchText(url), image)
  if ('digest' in found) return found.digest
  throw new Error(`Failed to download image ${url}, reason: ${listProblem(found)}`)
}

function listProblem(found: Exclude<ListedDigest, { digest: string }>): string {
  switch (found.problem) {
    case 'empty':
      return 'Checksum file empty.'
    case 'no digest':
      return 'Invalid checksum file (No valid checksum found)'
    case 'no name':
      return `Checksum file does not contain name ${found.name}`
  }
}
