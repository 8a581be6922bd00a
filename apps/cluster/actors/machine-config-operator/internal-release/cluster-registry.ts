import type { KubeClient } from '../../../../../base/kubernetes/index.js'
import { internalRegistry } from '../../../../../base/registry/index.js'

/** The registry of a cluster's control plane by the address of its API: `api-int.lab.example:22625`. */
export async function clusterRegistry(kube: KubeClient): Promise<string> {
  const found = await kube.find('Infrastructure', { name: 'cluster' })
  const uri = found?.status?.['apiServerInternalURI']
  const [, domain = 'cluster.invalid'] = /api-int\.([^/:]+)/.exec(typeof uri === 'string' ? uri : '') ?? []
  return internalRegistry(domain)
}
