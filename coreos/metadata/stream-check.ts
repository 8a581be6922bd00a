import { FILE_NAMES, type StreamArtifact } from './artifact.js'
import type { StreamMetadata } from './stream-metadata.js'
import { parseVersion } from './coreos-versions.js'

/** An error or an oddity in a stream that matches its schema. */
export interface StreamFinding {
  kind: 'error' | 'warning'
  /** Path such as `architectures.x86_64.artifacts.metal`. */
  path: string
  message: string
}

interface LocatedArtifact {
  path: string
  architecture: string
  release: string
  artifact: StreamArtifact
}

/** All files of a stream. */
function streamArtifacts(stream: StreamMetadata): LocatedArtifact[] {
  const placed: LocatedArtifact[] = []
  for (const [architecture, { artifacts }] of Object.entries(stream.architectures))
    for (const [platform, { release, formats }] of Object.entries(artifacts))
      for (const [format, files] of Object.entries(formats))
        for (const file of FILE_NAMES) {
          const artifact = files[file]
          const path = `architectures.${architecture}.artifacts.${platform}.formats.${format}.${file}`
          if (artifact) placed.push({ path, architecture, release, artifact })
        }
  return placed
}

/**
 * Checks that a stream is consistent: protocols, releases, locations and digests.
 *
 * @param insecure allows http, as on loopback
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { checkStream, readMetadata } from 'ironstage/coreos'
 *
 * const metadata = readMetadata(readFileSync('stable.json', 'utf8'), 'stable.json')
 * if (metadata.kind === 'stream') console.log(checkStream(metadata.value))
 */
export function checkStream(stream: StreamMetadata, { insecure = false } = {}): StreamFinding[] {
  const placed = streamArtifacts(stream)
  return [
    ...(insecure ? [] : protocols(placed)),
    ...releases(stream),
    ...places(placed),
    ...duplicates(placed),
    ...completeness(stream),
  ]
}

const error = (path: string, message: string): StreamFinding => ({ kind: 'error', path, message })

function protocols(placed: readonly LocatedArtifact[]): StreamFinding[] {
  return placed.flatMap(({ path, artifact }) =>
    (['location', 'signature'] as const).flatMap((key) =>
      artifact[key]?.startsWith('http:')
        ? [error(`${path}.${key}`, `is http, and must be https: ${artifact[key]}`)]
        : [],
    ),
  )
}

function releases(stream: StreamMetadata): StreamFinding[] {
  const found: StreamFinding[] = []
  const all = new Map<string, string>()
  for (const [architecture, { artifacts, images = {} }] of Object.entries(stream.architectures)) {
    const path = `architectures.${architecture}`
    const named: [string, string][] = Object.entries(artifacts).map(([name, one]) => [`artifacts.${name}`, one.release])
    for (const [cloud, one] of Object.entries(images as Record<string, { release?: string; regions?: object }>)) {
      if (one.release !== undefined) named.push([`images.${cloud}`, one.release])
      for (const [region, { release }] of Object.entries((one.regions ?? {}) as Record<string, { release: string }>))
        named.push([`images.${cloud}.regions.${region}`, release])
    }
    const [first] = named
    if (!first) continue
    all.set(architecture, first[1])
    for (const [where, release] of named)
      if (release !== first[1])
        found.push(error(`${path}.${where}`, `is release ${release}, while ${first[0]} is ${first[1]}`))
    for (const release of new Set(named.map(([, one]) => one))) {
      try {
        parseVersion(release)
      } catch {
        found.push({ kind: 'warning', path, message: `${release} is not a version of a known form` })
      }
    }
  }
  const [[architecture, release] = []] = all
  for (const [other, its] of all)
    if (its !== release)
      found.push({
        kind: 'warning',
        path: `architectures.${other}`,
        message: `is release ${its}, while ${architecture} is ${release}`,
      })
  return found
}

/** Finds files of another build: builds are published below `builds/RELEASE/ARCH/`. */
function places(placed: readonly LocatedArtifact[]): StreamFinding[] {
  return placed.flatMap(({ path, architecture, release, artifact: { location } }) => {
    const [, build, of] = /\/builds\/([^/]+)\/([^/]+)\/[^/]+$/.exec(location) ?? []
    if (build === undefined || (build === release && of === architecture)) return []
    return [
      error(`${path}.location`, `is of ${build} for ${of}, and not of ${release} for ${architecture}: ${location}`),
    ]
  })
}

/** Finds one location with two digests, and two locations with one digest. */
function duplicates(placed: readonly LocatedArtifact[]): StreamFinding[] {
  const places = new Map<string, LocatedArtifact>()
  const digests = new Map<string, LocatedArtifact>()
  return placed.flatMap((one) => {
    const { location, sha256 } = one.artifact
    const samePlace = places.get(location)
    const sameDigest = digests.get(sha256)
    places.set(location, samePlace ?? one)
    digests.set(sha256, sameDigest ?? one)
    if (samePlace && samePlace.artifact.sha256 !== sha256)
      return [
        error(`${one.path}.sha256`, `differs from that of ${samePlace.path}, which is the same file: ${location}`),
      ]
    if (sameDigest && sameDigest.artifact.location !== location)
      return [error(`${one.path}.sha256`, `is that of ${sameDigest.path}, which is another file`)]
    return []
  })
}

function completeness(stream: StreamMetadata): StreamFinding[] {
  return Object.entries(stream.architectures).flatMap(([architecture, { artifacts }]) => {
    const pxe = artifacts['metal']?.formats['pxe']
    if (!pxe) return []
    const lacking = (['kernel', 'initramfs', 'rootfs'] as const).filter((file) => !pxe[file])
    const path = `architectures.${architecture}.artifacts.metal.formats.pxe`
    return lacking.map((file) => error(path, `has no ${file}`))
  })
}
