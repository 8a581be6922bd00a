import type { ActorParts } from '../../../../../base/kubernetes/index.js'
import { NODE_REGISTRY } from '../../../../../base/registry/index.js'
import { SERVES_FROM_NODES } from '../machine-config-behaviours.js'
import { clusterRegistry } from './cluster-registry.js'
import { INTERNAL_RELEASE, REGISTRY_ACCOUNT } from './internal-release-names.js'

/** Pull secrets of a node by their registries, as `/var/lib/kubelet/config.json` has them. */
export type RegistryAuths = Readonly<Record<string, { auth: string }>>

/** Name of the account (pkg/controller/common/constants.go IRIRegistryUsername). */
const ACCOUNT_NAME = 'openshift'

/**
 * The account of the control plane's registry, which the templates of all nodes have as long as there is an
 * InternalReleaseImage (machine-config-operator 7ff337a pkg/controller/common/iri_secret_merger.go); undefined without.
 */
export async function registryAuths(
  { kube, behaviours }: Pick<ActorParts, 'kube' | 'behaviours'>,
  release: string,
): Promise<RegistryAuths | undefined> {
  const found = await kube.find('InternalReleaseImage', INTERNAL_RELEASE)
  if (!found || !behaviours.of(release).has(SERVES_FROM_NODES)) return undefined
  const password = (await kube.find('Secret', REGISTRY_ACCOUNT))?.data?.['password']
  if (password === undefined) return undefined
  const account = `${ACCOUNT_NAME}:${Buffer.from(password, 'base64').toString()}`
  const auth = Buffer.from(account).toString('base64')
  return { [await clusterRegistry(kube)]: { auth }, [NODE_REGISTRY]: { auth } }
}
