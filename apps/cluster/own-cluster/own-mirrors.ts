import type { RepositoryMirrors } from '../site/container-registry.js'
import type { OwnMirrorSet, OwnObjects } from './own-objects.js'

/** Mirrors of a cluster, of all three kinds. */
export const mirrorsOf = (objects: OwnObjects): RepositoryMirrors[] => [
  ...objects.ImageDigestMirrorSet.flatMap((set) => rulesOfSet(set, 'digest')),
  ...objects.ImageTagMirrorSet.flatMap((set) => rulesOfSet(set, 'tag')),
  ...objects.ImageContentSourcePolicy.flatMap((set) => rulesOfSet(set, 'digest')),
]

const rulesOfSet = ({ spec = {} }: OwnMirrorSet, pulls: 'digest' | 'tag'): RepositoryMirrors[] => {
  const { imageDigestMirrors, imageTagMirrors, repositoryDigestMirrors } = spec
  const lists = imageDigestMirrors ?? imageTagMirrors ?? repositoryDigestMirrors ?? []
  return lists.map(({ source, mirrors, mirrorSourcePolicy = 'AllowContactingSource' }) => ({
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
