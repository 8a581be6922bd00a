/**
 * Versions of the spec that Ignition 2.26 reads, oldest first. No others are accepted.
 *
 * @example
 * import { SPEC_VERSIONS } from 'ironstage/ignition'
 *
 * const oldest = SPEC_VERSIONS[0]
 */
export const SPEC_VERSIONS = [
  '3.0.0',
  '3.1.0',
  '3.2.0',
  '3.3.0',
  '3.4.0',
  '3.5.0',
  '3.6.0',
  '3.7.0-experimental',
] as const

/** A version of the spec that Ignition 2.26 reads. */
export type SpecVersion = (typeof SPEC_VERSIONS)[number]

/**
 * The newest stable version. A later Ignition refuses experimental ones.
 *
 * @example
 * import { NEWEST_STABLE, readIgnition, translateIgnition } from 'ironstage/ignition'
 *
 * const { config, version } = readIgnition({ ignition: { version: '3.2.0' } })
 * const newest = translateIgnition(config, version, NEWEST_STABLE)
 */
export const NEWEST_STABLE = '3.6.0' satisfies SpecVersion

export const isExperimental = (version: SpecVersion): boolean => version.includes('-')

export const isSpecVersion = (text: string): text is SpecVersion => SPEC_VERSIONS.some((known) => known === text)

/** True if a version is the same as another, or newer. */
export const atLeast = (version: SpecVersion, since: SpecVersion): boolean =>
  SPEC_VERSIONS.indexOf(version) >= SPEC_VERSIONS.indexOf(since)

export const newerOf = (a: SpecVersion, b: SpecVersion): SpecVersion => (atLeast(a, b) ? a : b)

const INT64 = 2n ** 63n
/** Digits of the largest int64, to bound the cost of BigInt. */
const MAX_INT64_DIGITS = 19

/**
 * Parses a version as Ignition does: `03.4.0` and `3.4.0-` are `3.4.0`, by Go's reading of numbers and of an empty
 * pre-release. `unknown` for a version that the spec does not have, null for text that is no version.
 */
export function readSpecVersion(text: string): SpecVersion | 'unknown' | null {
  const plus = text.indexOf('+')
  const metadata = plus < 0 ? '' : text.slice(plus + 1)
  const withPre = plus < 0 ? text : text.slice(0, plus)
  const dash = withPre.indexOf('-')
  const pre = dash < 0 ? '' : withPre.slice(dash + 1)
  const parts = (dash < 0 ? withPre : withPre.slice(0, dash)).split('.')
  if (parts.length !== 3 || !isIdentifier(pre) || !isIdentifier(metadata)) return null
  const numbers: bigint[] = []
  for (const part of parts) {
    // No sign can occur here: it would have begun a pre-release or metadata.
    const digits = part.replace(/^0+(?=\d)/, '')
    if (!/^\d+$/.test(digits) || digits.length > MAX_INT64_DIGITS || BigInt(digits) >= INT64) return null
    numbers.push(BigInt(digits))
  }
  const canonical = `${numbers.join('.')}${pre && `-${pre}`}${metadata && `+${metadata}`}`
  return isSpecVersion(canonical) ? canonical : 'unknown'
}

const isIdentifier = (text: string): boolean =>
  text === '' || text.split('.').every((part) => /^[0-9A-Za-z-]+$/.test(part))
