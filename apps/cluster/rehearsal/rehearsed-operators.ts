import { defined, type Scope } from '../../../base/runtime/index.js'
import { CONTAINERS, runClusterBaremetalOperator } from '../actors/cluster-baremetal-operator.js'
import { runClusterVersionOperator } from '../actors/cluster-version-operator/cluster-version-operator.js'
import { runMachineApiOperator } from '../actors/machine-api-operator/machine-api-operator.js'
import { runMachineConfigOperator } from '../actors/machine-config-operator/machine-config-operator.js'
import { runNodePrograms } from '../actors/node-programs.js'
import type { ActorParts } from '../../../base/kubernetes/index.js'
import { metal3Programs } from '../site/metal3-programs.js'
import { runPods, type PodPrograms } from '../site/pods.js'
import type { Site } from '../site/site.js'
import { ActingOperators } from './acting-operators.js'

/**
 * Starts the operators of a cluster.
 *
 * @param release pullspec of the release that it is installed with
 * @returns the operators, some of which may be left out later
 */
export async function runOperators(
  site: Site,
  parts: ActorParts,
  release: string,
  scope: Scope,
): Promise<ActingOperators> {
  const { registry, stage, oldRamdisk } = site
  const registries = { registry, ...defined({ internalRegistry: site.internalRegistry }) }
  const acting = new ActingOperators()
  const programs = actingPrograms(metal3Programs(site, parts), acting)
  scope.use(runPods({ ...parts, registry, programs }))
  scope.use(await acting.run('cbo', () => runClusterBaremetalOperator({ ...parts, ironicUrl: stage.url, oldRamdisk })))
  scope.use(await acting.run('mao', () => runMachineApiOperator(parts, site.cloud)))
  const isKnownAmi = (id: string): boolean => site.cloud.isOfRelease(id)
  scope.use(await acting.run('mco', () => runMachineConfigOperator({ ...parts, ...registries, isKnownAmi })))
  scope.use(
    runNodePrograms({
      ...parts,
      machines: stage.machines,
      probe: stage.probe,
      ...defined({ internalRegistry: site.internalRegistry }),
      runDaemon: (run, signal) => acting.during('mcd', signal, run),
    }),
  )
  scope.use(await acting.run('cvo', () => runClusterVersionOperator({ ...parts, registry, release })))
  return acting
}

/** The programs of pods that are operators: one that is left out does nothing in its pod. */
function actingPrograms({ init, main }: PodPrograms, acting: ActingOperators): PodPrograms {
  const { [CONTAINERS.imageService]: imageService, [CONTAINERS.baremetalOperator]: baremetalOperator } = main
  return {
    init,
    main: {
      ...main,
      [CONTAINERS.imageService]: (container, signal) => acting.run('icc', () => imageService!(container, signal)),
      [CONTAINERS.baremetalOperator]: (container, signal) =>
        acting.run('bmo', () => baremetalOperator!(container, signal)),
    },
  }
}
