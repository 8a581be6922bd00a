import { MIRROR_KINDS } from '../../../base/registry/index.js'
import type { RepositoryMirrors } from '../site/container-registry.js'
import type { OwnMirrorSet, OwnObjects } from './own-objects.js'

/** Mirrors of a cluster, of all three kinds. */
export const mirrorsOf = (objects: OwnObjects): RepositoryMirrors[] => [
  ...objects.ImageDigestMirrorSet.flatMap(rulesOfSet),
  ...objects.ImageTagMirrorSet.flatMap(rulesOfSet),
  ...objects.ImageContentSourcePolicy.flatMap(rulesOfSet),
]

function rulesOfSet({ kind, spec = {} }: OwnMirrorSet): RepositoryMirrors[] {
  const { at, pulls } = MIRROR_KINDS[kind]
  return (spec[at] ?? []).map(({ source, mirrors, mirrorSourcePolicy = 'AllowContactingSource' }) => ({
    source,
    mirrors: mirrors ?? [],
    pulls,
    isSourceAsked: mirrorSourcePolicy === 'AllowContactingSource',
  }))
}

/** Repositories of OpenShift's releases and their components. */
const RELEASES = 'quay.io/openshift-release-dev'

/** True if releases are to come from mirrors and from nowhere else: such a cluster has no way out. */
export const isMirrorAlone = (mirrors: readonly RepositoryMirrors[]): boolean =>
  mirrors.some(({ source, isSourceAsked }) => source.startsWith(RELEASES) && isSourceAsked === false)
