import { apiVersionOf, type ClusterOperator, type KubeClient } from '../../../base/kubernetes/index.js'

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
