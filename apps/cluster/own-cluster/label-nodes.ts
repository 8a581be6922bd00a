import type { RehearsedCluster } from '../rehearsal/rehearsed-cluster.js'
import { waitUntilSettled } from '../rehearsal/wait-until-settled.js'
import type { OwnCluster } from './own-cluster.js'

const ROLE_PREFIX = 'node-role.kubernetes.io/'

/**
 * Gives nodes the labels of the cluster's own, by which pools select them, and waits until they run the configurations of
 * those pools.
 *
 * @returns a sentence where they do not
 */
export async function labelNodes({ members }: OwnCluster, rehearsed: RehearsedCluster): Promise<string | null> {
  const { kube } = rehearsed
  for (const { node } of members) {
    const { name, labels = {} } = node.metadata
    const known = (await kube.find('Node', { name }))?.metadata.labels ?? {}
    const isSame = Object.entries(labels).every(([key, value]) => known[key] === value)
    const surplus = Object.keys(known).filter((key) => key.startsWith(ROLE_PREFIX) && !(key in labels))
    if (isSame && surplus.length === 0) continue
    const removed = Object.fromEntries(surplus.map((key) => [key, null]))
    await kube.patch('Node', { name }, { metadata: { labels: { ...labels, ...removed } } })
  }
  return waitUntilSettled(rehearsed, 'nodes')
}
