import { isDeepStrictEqual } from 'node:util'
import { Scope } from '../../../../base/runtime/index.js'
import { withCondition } from '../../kube/conditions.js'
import { apiVersionOf } from '../../kube/kinds.js'
import { runActor, type ActorParts } from '../actor.js'
import { runMachineSetController } from './machine-sets.js'
import { runMachineController } from './machine-controller.js'
import { MACHINE_API_OPERATOR } from './machine-api-names.js'

const MACHINE_API_NAME = { name: 'machine-api' }
/** The ConfigMap of the release with the operator's version (machine-api-operator 9511961 install/). */
const IMAGES = { name: 'machine-api-operator-images', namespace: 'openshift-machine-api' }

/** The machine API operator: machine sets, machines, and its account of itself. */
export function runMachineApiOperator(parts: ActorParts): AsyncDisposable {
  const scope = new Scope()
  scope.use(runMachineSetController(parts))
  scope.use(runMachineController(parts))
  scope.use(runReport(parts))
  return scope
}

function runReport(parts: ActorParts): AsyncDisposable {
  const { kube, clock, announce } = parts
  const reconcile = async (): Promise<void> => {
    const version = (await kube.find('ConfigMap', IMAGES))?.data?.['releaseVersion']
    if (version === undefined) return
    const found =
      (await kube.find('ClusterOperator', MACHINE_API_NAME)) ??
      (await kube.create<'ClusterOperator'>({
        apiVersion: apiVersionOf('ClusterOperator'),
        kind: 'ClusterOperator',
        metadata: MACHINE_API_NAME,
        spec: {},
      }))
    let { conditions } = found.status ?? {}
    const message = `Cluster Machine API Operator is available at operator: ${version}`
    for (const condition of [
      { type: 'Available', status: 'True' as const, reason: 'AsExpected', message },
      { type: 'Progressing', status: 'False' as const, reason: 'AsExpected' },
      { type: 'Degraded', status: 'False' as const, reason: 'AsExpected' },
      { type: 'Upgradeable', status: 'True' as const, reason: 'AsExpected' },
    ])
      conditions = withCondition(conditions, condition, clock)
    const status = { conditions: conditions ?? [], versions: [{ name: 'operator', version }] }
    if (isDeepStrictEqual(status, found.status)) return
    const isNew = found.status?.versions[0]?.version !== version
    await kube.updateStatus<'ClusterOperator'>({ ...found, status })
    if (isNew) announce({ actor: MACHINE_API_OPERATOR, does: `reports ${version}`, because: 'its controllers run' })
  }
  const here = () => [MACHINE_API_NAME]
  return runActor(
    {
      name: MACHINE_API_OPERATOR,
      watches: [
        { kind: 'ConfigMap', keysOf: (at) => (at.name === IMAGES.name ? here() : []) },
        { kind: 'ClusterOperator', keysOf: (at) => (at.name === MACHINE_API_NAME.name ? here() : []) },
      ],
      reconcile,
    },
    parts,
  )
}
