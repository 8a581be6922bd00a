import type { Scope } from '../../../base/runtime/index.js'
import { runClusterBaremetalOperator } from '../actors/cluster-baremetal-operator.js'
import { runClusterVersionOperator } from '../actors/cluster-version-operator/cluster-version-operator.js'
import { runMachineApiOperator } from '../actors/machine-api-operator/machine-api-operator.js'
import { runMachineConfigOperator } from '../actors/machine-config-operator/machine-config-operator.js'
import { runNodePrograms } from '../actors/node-programs.js'
import type { ActorParts } from '../../../base/kubernetes/index.js'
import { metal3Programs } from '../site/metal3-programs.js'
import { runPods } from '../site/pods.js'
import type { Site } from '../site/site.js'

/**
 * Starts the operators of a cluster.
 *
 * @param release pullspec of the release that it is installed with
 */
export async function runOperators(site: Site, parts: ActorParts, release: string, scope: Scope): Promise<void> {
  const { registry, stage, oldRamdisk } = site
  const programs = metal3Programs(site, parts)
  scope.use(runPods({ ...parts, registry, programs }))
  scope.use(runClusterBaremetalOperator({ ...parts, ironicUrl: stage.url, oldRamdisk }))
  scope.use(runMachineApiOperator(parts, site.cloud))
  scope.use(await runMachineConfigOperator({ ...parts, registry, isKnownAmi: (id) => site.cloud.isOfRelease(id) }))
  scope.use(runNodePrograms({ ...parts, machines: stage.machines, probe: stage.probe }))
  scope.use(runClusterVersionOperator({ ...parts, registry, release }))
}
