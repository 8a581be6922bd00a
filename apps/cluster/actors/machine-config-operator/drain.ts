import { runActor, type ActorParts } from '../actor.js'
import { DRAINS_NODES } from './machine-config-behaviours.js'
import { DESIRED_DRAIN, LAST_APPLIED_DRAIN, MACHINE_CONFIG_OPERATOR } from './machine-config-names.js'
import { shortenRendered } from './pools.js'

/**
 * Cordons and drains nodes, or uncordons them, as their daemons ask for it by an annotation
 * (pkg/controller/drain/drain_controller.go of machine-config-operator 7ff337a).
 */
export function runDrainController(parts: ActorParts): AsyncDisposable {
  const { kube, behaviours, announce } = parts
  return runActor(
    {
      name: `${MACHINE_CONFIG_OPERATOR}: drain`,
      watches: [{ kind: 'Node' }],
      reconcile: async (at) => {
        const node = await kube.find('Node', at)
        const { [DESIRED_DRAIN]: wanted, [LAST_APPLIED_DRAIN]: applied } = node?.metadata.annotations ?? {}
        if (wanted === undefined || wanted === applied) return
        const [verb, ...config] = wanted.split('-')
        const because = `its daemon asks for it, for ${shortenRendered(config.join('-'))}`
        if (verb === 'uncordon') {
          announce({ actor: MACHINE_CONFIG_OPERATOR, does: `uncordons ${at.name}`, because })
          await kube.patch('Node', at, { spec: { unschedulable: null } })
        } else if (behaviours.has(DRAINS_NODES)) {
          announce({ actor: MACHINE_CONFIG_OPERATOR, does: `cordons and drains ${at.name}`, because })
          await kube.patch('Node', at, { spec: { unschedulable: true } })
        }
        await kube.patch('Node', at, { metadata: { annotations: { [LAST_APPLIED_DRAIN]: wanted } } })
      },
    },
    parts,
  )
}
