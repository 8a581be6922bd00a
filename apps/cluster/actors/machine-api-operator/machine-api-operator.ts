import { isDeepStrictEqual } from 'node:util'
import { Scope } from '../../../../base/runtime/index.js'
import {
  withConditions,
  type ConditionChange,
  type ActorParts,
  runController,
  watchObject,
  type ResourceController,
  type WatchedKind,
} from '../../../../base/kubernetes/index.js'
import { ensureClusterOperator } from '../cluster-operator.js'
import type { CloudInstances } from '../../site/cloud-instances.js'
import { CloudMachineController } from './cloud-machines.js'
import { MachineSetController } from './machine-sets.js'
import { MachineController } from './machine-controller.js'
import { MACHINE_API_OPERATOR } from './machine-api-names.js'

const MACHINE_API_NAME = { name: 'machine-api' }
/** The ConfigMap of the release with the operator's version (machine-api-operator 9511961 install/). */
const IMAGES = { name: 'machine-api-operator-images', namespace: 'openshift-machine-api' }

/**
 * The machine API operator: machine sets, machines, and its account of itself.
 *
 * @param cloud makes the machines of a cluster that is on a cloud
 */
export function runMachineApiOperator(parts: ActorParts, cloud?: CloudInstances): AsyncDisposable {
  const scope = new Scope()
  const controllers = [
    new MachineSetController(parts),
    new MachineController(parts),
    ...(cloud ? [new CloudMachineController(parts, cloud)] : []),
    new VersionReport(parts),
  ]
  for (const controller of controllers) scope.use(runController(controller, parts))
  return scope
}

/** Reports the release in the ClusterOperator as soon as its ConfigMap is there. */
class VersionReport implements ResourceController {
  readonly name = MACHINE_API_OPERATOR
  readonly watches: readonly WatchedKind[] = [
    watchObject('ConfigMap', IMAGES, MACHINE_API_NAME),
    watchObject('ClusterOperator', MACHINE_API_NAME, MACHINE_API_NAME),
  ]
  readonly #parts: ActorParts

  constructor(parts: ActorParts) {
    this.#parts = parts
  }

  async reconcile(): Promise<void> {
    const { kube, clock, announce } = this.#parts
    const version = (await kube.find('ConfigMap', IMAGES))?.data?.['releaseVersion']
    if (version === undefined) return
    const found = await ensureClusterOperator(kube, MACHINE_API_NAME)
    const status = {
      conditions: withConditions(found.status?.conditions, availableConditions(version), clock),
      versions: [{ name: 'operator', version }],
    }
    if (isDeepStrictEqual(status, found.status)) return
    const isNew = found.status?.versions[0]?.version !== version
    await kube.updateStatus<'ClusterOperator'>({ ...found, status })
    if (isNew) announce({ actor: MACHINE_API_OPERATOR, does: `reports ${version}`, because: 'its controllers run' })
  }
}

const availableConditions = (version: string): ConditionChange[] => [
  {
    type: 'Available',
    status: 'True',
    reason: 'AsExpected',
    message: `Cluster Machine API Operator is available at operator: ${version}`,
  },
  { type: 'Progressing', status: 'False', reason: 'AsExpected' },
  { type: 'Degraded', status: 'False', reason: 'AsExpected' },
  { type: 'Upgradeable', status: 'True', reason: 'AsExpected' },
]
