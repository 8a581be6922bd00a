import { isInternalRegistry } from '../../../base/registry/index.js'
import { reachesRelease } from '../../../base/kubernetes/index.js'
import { isInternalReleaseConfig } from '../actors/machine-config-operator/internal-release/internal-release-names.js'
import { SERVES_FROM_NODES } from '../actors/machine-config-operator/machine-config-behaviours.js'
import { GENERATED_BY } from '../actors/machine-config-operator/machine-config-names.js'
import type { RepositoryMirrors } from '../site/container-registry.js'
import type { OwnCluster } from './own-cluster.js'
import type { OwnInternalRelease, OwnMachineConfig, OwnObjects } from './own-objects.js'

/** The registry of the installation (openshift/appliance pkg/registry), which mirror sets go on naming after it has gone. */
const INSTALLER_REGISTRY = 'registry.appliance.com:5000'

/** The release image that the control plane of a cluster serves; undefined for a cluster with registries of its own. */
export const internalReleaseOf = ({ folder, version }: OwnCluster): OwnInternalRelease | undefined =>
  reachesRelease(version, SERVES_FROM_NODES.since!) ? folder.objects.InternalReleaseImage[0] : undefined

/** Bundle of a release: `ocp-release-bundle-4.22.0-x86_64`. */
export const isBundleOf = (name: string, version: string): boolean => name.startsWith(`ocp-release-bundle-${version}-`)

/** Names of the bundles that the nodes have. */
export const availableBundles = ({ status }: OwnInternalRelease): string[] =>
  (status?.releases ?? [])
    .filter(({ conditions }) => conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True'))
    .map(({ name }) => name)

/** Domain of a cluster whose control plane serves its release: `lab.example.com`. */
export function internalDomain(objects: OwnObjects, mirrors: readonly RepositoryMirrors[]): string {
  const uri = objects.Infrastructure[0]?.status?.apiServerInternalURI
  const hosts = mirrors.flatMap((rule) => rule.mirrors.map((place) => place.split('/')[0]!))
  const named = hosts.find((host) => isInternalRegistry(host) && host.startsWith('api-int.'))
  const image = objects.InternalReleaseImage[0]?.status?.releases?.map((release) => release.image).join(' ')
  const [, domain] = /api-int\.([^/:]+)/.exec(uri ?? named ?? image ?? '') ?? []
  return domain ?? 'cluster.invalid'
}

/** Mirrors without the registry of the installation. */
export const withoutInstaller = (mirrors: readonly RepositoryMirrors[]): RepositoryMirrors[] =>
  mirrors.map((rule) => ({
    ...rule,
    mirrors: rule.mirrors.filter((place) => place.split('/')[0] !== INSTALLER_REGISTRY),
  }))

/** True if releases are found at a registry that is none of the control plane's. */
export const hasRegistryBeside = (mirrors: readonly RepositoryMirrors[]): boolean =>
  mirrors.some(
    ({ source, mirrors: places }) =>
      source.startsWith('quay.io') && places.some((place) => !isInternalRegistry(place.split('/')[0]!)),
  )

/** MachineConfigs of the registry that name the operator by which they were made: a later one renders no pool with them. */
export const stampedConfigs = ({ MachineConfig: configs }: OwnObjects): OwnMachineConfig[] =>
  configs.filter(({ metadata }) => isInternalReleaseConfig(metadata.name) && isStamped(metadata.annotations))

const isStamped = (annotations: Record<string, string> | undefined): boolean =>
  (annotations?.[GENERATED_BY] ?? '') !== ''
