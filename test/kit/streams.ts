import { metaToRelease, releaseToStream, type StreamMetadata } from '../../coreos/index.js'
import { buildMeta } from './builds.js'

export const ARCHITECTURES = ['x86_64', 'aarch64', 'ppc64le', 's390x'] as const

/** Stream metadata of Fedora CoreOS: xz, signed. */
export function fedoraStream({
  version = '38.20230718.3.0',
  now = '2023-08-01T10:00:00Z',
  stream = 'stable',
} = {}): StreamMetadata {
  const builds = ARCHITECTURES.map((architecture) => buildMeta(architecture, { version, stream }))
  return releaseToStream(metaToRelease(builds), { now })
}

/** Stream metadata of RHEL CoreOS: gzip, and nothing is signed. */
export function rhelStream({
  version = '10.2.20260715-0',
  now = '2026-07-16T23:16:30Z',
  name = 'rhcos-4.22',
  os = 'rhcos',
} = {}): StreamMetadata {
  const builds = ARCHITECTURES.map((architecture) =>
    buildMeta(architecture, { name: os, version, stream: 'rhel-10.2' }),
  )
  const baseUrl = 'https://rhcos.mirror.example.org/art/storage/prod/streams'
  return releaseToStream(metaToRelease(builds, { baseUrl, signatures: false }), { now, name })
}
