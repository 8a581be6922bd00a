import { NEWEST_STABLE, type SpecVersion } from '../../ignition/index.js'

/** Days on which Ignition's releases made a version of the spec stable (coreos/ignition docs/release-notes.md). */
const STABLE_SINCE: readonly (readonly [day: number, version: SpecVersion])[] = [
  [20200505, '3.1.0'],
  [20201013, '3.2.0'],
  [20210625, '3.3.0'],
  [20230221, '3.4.0'],
]
/** From here on systems are taken to have the Ignition that is simulated. */
const SIMULATED_SINCE = 20241022

/**
 * The newest version of the spec that the Ignition of a system can read: one that was stable when the system was built. The
 * day stands in every version of CoreOS; a version without one has the Ignition that is simulated.
 */
export function newestSpecOf(version: string): SpecVersion {
  const day = Number(/\.(20\d{6})(?:\d{4})?[.-]/.exec(version)?.[1] ?? Infinity)
  if (day >= SIMULATED_SINCE) return NEWEST_STABLE
  return STABLE_SINCE.findLast(([since]) => since <= day)?.[1] ?? '3.0.0'
}
