import type {
  AdmissionPolicy,
  Behaviours,
  ClusterVersion,
  InternalReleaseImage,
  ObjectReader,
} from '../../../base/kubernetes/index.js'
import { GUARDS_INTERNAL_RELEASE } from '../actors/machine-config-operator/machine-config-behaviours.js'
import { INTERNAL_RELEASE } from '../actors/machine-config-operator/internal-release/internal-release-names.js'

const BUNDLE_NAME = /^ocp-release-bundle-[0-9]+\.[0-9]+\.[0-9]+-[A-Za-z0-9._-]+$/

/**
 * The rules of InternalReleaseImage's definition (openshift/api 2a3d739 machineconfiguration/v1), and the policy that keeps
 * the release which a cluster runs (machine-config-operator 7ff337a manifests/machineconfigcontroller).
 */
export const internalReleasePolicies = (behaviours: Behaviours): readonly AdmissionPolicy[] => [
  {
    kind: 'InternalReleaseImage',
    message: "internalreleaseimage is a singleton, .metadata.name must be 'cluster'",
    refuses: ({ after }) => after !== undefined && after.metadata.name !== INTERNAL_RELEASE.name,
  },
  {
    kind: 'InternalReleaseImage',
    message: 'must be ocp-release-bundle-<version>-<arch|stream> and <= 64 chars',
    at: ({ after }) => {
      const { releases = [] } = (after as unknown as InternalReleaseImage | undefined)?.spec ?? {}
      const index = releases.findIndex(({ name }) => !BUNDLE_NAME.test(name))
      return index < 0 ? undefined : { field: `spec.releases[${index}].name`, value: releases[index]!.name }
    },
    refuses: ({ after }) =>
      (after as unknown as InternalReleaseImage | undefined)?.spec.releases.some(
        ({ name }) => !BUNDLE_NAME.test(name),
      ) ?? false,
  },
  {
    name: 'internalreleaseimage-deletion-guard',
    kind: 'InternalReleaseImage',
    message:
      'Cannot delete InternalReleaseImage while the cluster is using a release bundle from this resource. The current cluster release image matches a release stored in this InternalReleaseImage. Please upgrade or downgrade to a different release before deletion.',
    refuses: ({ before, after }, read) => {
      if (after !== undefined) return false
      const cluster = clusterVersionIn(read)
      const desired = cluster?.status?.desired
      if (!desired || !behaviours.of(desired.version).has(GUARDS_INTERNAL_RELEASE)) return false
      const { status } = before as unknown as InternalReleaseImage
      return (
        status?.releases.some(({ image = '' }) => image !== '' && digestIn(image) === digestIn(desired.image)) ?? false
      )
    },
  },
]

const digestIn = (pullspec: string): string => pullspec.split('@')[1] ?? ''

const clusterVersionIn = (read: ObjectReader): ClusterVersion | undefined =>
  read.list('ClusterVersion', { fieldSelector: 'metadata.name=version' })[0] as unknown as ClusterVersion | undefined
