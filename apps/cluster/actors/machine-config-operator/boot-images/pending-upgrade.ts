import { conditionOf, type ClusterVersion } from '../../../../../base/kubernetes/index.js'
import { isUpdated } from '../pool-nodes.js'
import { nameToBeRendered, type RenderParts } from '../rendered-config.js'

/** The reason not to replace boot images now: an installation or an upgrade that is not complete. Undefined if there is none. */
export async function pendingUpgrade(
  cluster: ClusterVersion | undefined,
  parts: RenderParts,
): Promise<string | undefined> {
  const [current] = cluster?.status?.history ?? []
  if (!cluster || !current) return 'the cluster is being installed'
  const { version = '', image = '' } = cluster.spec.desiredUpdate ?? {}
  const isAsked =
    (version !== '' && version !== current.version) || (version === '' && image !== '' && image !== current.image)
  const isRefused = conditionOf(cluster.status?.conditions, 'ReleaseAccepted')?.status === 'False'
  const target = isAsked && !isRefused ? version || 'another release' : current.version
  const incomplete = `the upgrade to ${target} is not complete`
  if (current.state !== 'Completed' || (isAsked && !isRefused)) return incomplete
  for (const pool of (await parts.kube.list('MachineConfigPool')).items) {
    const wanted = await nameToBeRendered(pool, parts)
    const isThere = isUpdated(pool) && (wanted === undefined || wanted === pool.spec.configuration?.name)
    if (!isThere) return `${incomplete}: pool ${pool.metadata.name} is not updated`
  }
  return undefined
}
