import { apiVersionOf } from '../kube/kinds.js'
import type { ClusterOperator } from '../kube/kinds/config-kinds.js'
import type { KubeClient } from '../kube/kube-client.js'

/** The ClusterOperator that an operator reports itself in; creates it if absent. */
export async function ensureClusterOperator(kube: KubeClient, { name }: { name: string }): Promise<ClusterOperator> {
  return (
    (await kube.find('ClusterOperator', { name })) ??
    kube.create<'ClusterOperator'>({
      apiVersion: apiVersionOf('ClusterOperator'),
      kind: 'ClusterOperator',
      metadata: { name },
      spec: {},
    })
  )
}
