import type { ActorParts, KubeMachine, KubeNode } from '../../../../base/kubernetes/index.js'
import { EXCLUDE_DRAINING, MACHINE_API_OPERATOR } from './machine-api-names.js'

/** Drains the node of a machine that is deleted, unless it is drained already or must not be. */
export async function drainForDeletion(
  { metadata }: KubeMachine,
  node: KubeNode,
  { kube, announce }: ActorParts,
): Promise<void> {
  if (metadata.annotations?.[EXCLUDE_DRAINING] !== undefined || node.spec?.unschedulable === true) return
  announce({
    actor: MACHINE_API_OPERATOR,
    does: `drains ${node.metadata.name}`,
    because: `${metadata.name} is deleted`,
  })
  await kube.patch('Node', node.metadata, { spec: { unschedulable: true } })
}
