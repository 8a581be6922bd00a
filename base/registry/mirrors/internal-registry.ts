/** Port of the registry that each node of a control plane runs over the releases on its disk, in a cluster without another one. */
const INTERNAL_REGISTRY_PORT = 22625

/** Name of that registry on the node itself. */
export const NODE_REGISTRY = `localhost:${INTERNAL_REGISTRY_PORT}`

/** Name of that registry in a cluster, by the domain of the cluster. */
export const internalRegistry = (domain: string): string => `api-int.${domain}:${INTERNAL_REGISTRY_PORT}`

/** True for a registry that answers on the nodes of a cluster alone (machine-config-operator 7ff337a pkg/controller/common/constants.go). */
export const isInternalRegistry = (host: string): boolean =>
  host === NODE_REGISTRY || (host.startsWith('api-int.') && host.endsWith(`:${INTERNAL_REGISTRY_PORT}`))
