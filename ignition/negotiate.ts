import { UserError } from '../base/runtime/index.js'
import { acceptedVersion, IGNITION_TYPE } from './accept.js'
import type { ReadConfig } from './read-spec.js'
import type { SpecConfig } from './spec/config-types.js'
import { atLeast, isExperimental, NEWEST_STABLE, type SpecVersion } from './spec/spec-versions.js'
import { translateIgnition } from './translate.js'

/** A config in a version that the asking machine reads, or the reason for an HTTP 406. */
export type Negotiated = { version: SpecVersion; config: SpecConfig } | { refusal: string }

/**
 * The config for a machine that sends this `Accept` header. It is unchanged when the machine's Ignition reads its
 * version or the header names none; otherwise it is translated down, provided that nothing is lost. One config so serves
 * machines of several releases.
 *
 * Ignition 0.x, which reads spec 1 and 2 only, is refused although its header also accepts any type: it would fail at
 * the config.
 */
export function negotiate(
  accept: string | undefined,
  { version, config }: Pick<ReadConfig, 'version' | 'config'>,
): Negotiated {
  const target = chooseAcceptedVersion(accept)
  if (typeof target === 'object') return target
  if (target === 'any' || reads(target, version)) return { version, config }
  try {
    return { version: target, config: translateIgnition(config, version, target) }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { refusal: `the machine reads spec ${target} at most, and the config is of ${version}: ${error.message}` }
  }
}

/** Ignition reads every stable version up to its own, and only its own experimental one. */
const reads = (newest: SpecVersion, version: SpecVersion): boolean =>
  newest === version || (!isExperimental(version) && atLeast(newest, version))

/** The newest version that the header's machine reads. */
function chooseAcceptedVersion(accept: string | undefined): SpecVersion | 'any' | { refusal: string } {
  const known = acceptedVersion(accept)
  if (known !== null) return known
  const named = [...(accept ?? '').matchAll(NAMED)].map(([, text]) => text!)
  if (named.length === 0) return 'any'
  // An Ignition newer than 2.26 reads every stable version known here.
  if (named.some((text) => newerThanKnown(text))) return NEWEST_STABLE
  return {
    refusal: `the machine reads spec ${named.join(' and ')} only, and configs are of spec 3: it needs an Ignition of version 2`,
  }
}

const NAMED = new RegExp(`${IGNITION_TYPE.replace(/[+.]/g, '\\$&')}\\s*;\\s*version="?([0-9][^",;\\s]{0,40})`, 'gi')

function newerThanKnown(text: string): boolean {
  const [, major, minor] = /^(\d{1,9})(?:\.(\d{1,9}))?/.exec(text) ?? []
  return Number(major) > 3 || (Number(major) === 3 && Number(minor ?? 0) > Number(NEWEST_STABLE.split('.')[1]))
}
