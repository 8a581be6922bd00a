import { isSpecVersion, newerOf, type SpecVersion } from './spec/spec-versions.js'

/** Content type of an Ignition config over HTTP. */
export const IGNITION_TYPE = 'application/vnd.coreos.ignition+json'

/**
 * The newest version of the spec that a client asks for in its `Accept` header, as Ignition sends it
 * (`application/vnd.coreos.ignition+json;version=3.6.0` and anything else at a lower weight). A server can so send each
 * machine a version that it reads, and a cluster can have machines of several releases. Null when the header names no
 * version of spec 3.
 */
export function acceptedVersion(header: string | undefined): SpecVersion | null {
  let newest: SpecVersion | null = null
  for (const range of (header ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    if (type.toLowerCase() !== IGNITION_TYPE) continue
    const named = parameters.flatMap((parameter) => /^version="?([^"]*)"?$/i.exec(parameter)?.[1] ?? [])[0]
    if (named !== undefined && isSpecVersion(named)) newest = newest === null ? named : newerOf(newest, named)
  }
  return newest
}
