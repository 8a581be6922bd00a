import { MACHINE_CONFIG_NAMESPACE, type Role } from '../machine-config-names.js'

// Names of machine-config-operator 7ff337a: pkg/controller/common/constants.go, pkg/controller/internalreleaseimage,
// pkg/daemon/constants/constants.go.

/** The one object of the releases that a control plane serves. */
export const INTERNAL_RELEASE = { name: 'cluster' } as const
export const INTERNAL_RELEASE_FINALIZER = 'internalreleaseimage.machineconfiguration.openshift.io'
/** Certificate and key of the registries, and their account; both are the installer's. */
export const REGISTRY_TLS = { name: 'internal-release-image-tls', namespace: MACHINE_CONFIG_NAMESPACE }
export const REGISTRY_ACCOUNT = { name: 'internal-release-image-registry-auth', namespace: MACHINE_CONFIG_NAMESPACE }
export const NODE_RELEASE_DEGRADED = 'InternalReleaseImageDegraded'

const CONFIG_SUFFIX = '-internalreleaseimage'
export const internalReleaseConfig = (role: Role): string => `02-${role}${CONFIG_SUFFIX}`
export const isInternalReleaseConfig = (name: string): boolean => name.startsWith('02-') && name.endsWith(CONFIG_SUFFIX)

/** Files and the unit on a node. */
export const REGISTRY_CONFIG = '/etc/iri-registry'
export const REGISTRY_LOADER = '/usr/local/bin/load-registry-image.sh'
export const REGISTRY_CA = '/etc/pki/ca-trust/source/anchors/iri-root-ca.crt'
export const REGISTRY_UNIT = 'iri-registry.service'

/** Repositories of the registry. */
export const RELEASE_REPOSITORY = 'openshift/release-images'
export const COMPONENT_REPOSITORY = 'openshift/release'

const LONGEST_BUNDLE_NAME = 64

/** Name of a release's bundle (openshift/appliance pkg/releasebundle Tag, which cuts it off). */
export const bundleName = (version: string): string =>
  `ocp-release-bundle-${version}-x86_64`.slice(0, LONGEST_BUNDLE_NAME)

/** The sentence of a condition about nodes. */
export const nodeList = (nodes: readonly string[]): string => `[${nodes.join(', ')}]`
