import { expect, test } from 'vitest'
import type { ClusterOperator } from '../../../../base/kubernetes/index.js'
import { clusterScene } from '../../../../test/kit/cluster/cluster-scene.js'
import { ALL_BEHAVIOURS } from '../all-behaviours.js'
import { ConfigOperator } from './config-operator.js'
import { CLUSTER_OPERATOR, OS_IMAGE } from './machine-config-names.js'
import { poolStatus } from './pool-nodes.js'

/** The operator's condition Degraded with a pool that is not rendered, and one that reports a version. */
async function degraded(reported: string): Promise<string | undefined> {
  const { parts } = clusterScene({ all: ALL_BEHAVIOURS, as: 'today' })
  const { kube, clock } = parts
  await kube.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: OS_IMAGE, data: { releaseVersion: '4.22.0' } })
  const operator = new ConfigOperator(parts, 'http://server.invalid')
  await operator.reconcile()
  const pool = await kube.get('MachineConfigPool', { name: 'worker' })
  const status = poolStatus(pool, [], {
    clock,
    refusal: 'Failed to render configuration for pool worker: no such stream',
  })
  await kube.updateStatus<'MachineConfigPool'>({ ...pool, status })
  const own = await kube.get('ClusterOperator', CLUSTER_OPERATOR)
  const versions: NonNullable<ClusterOperator['status']>['versions'] = [{ name: 'operator', version: reported }]
  await kube.updateStatus<'ClusterOperator'>({ ...own, status: { conditions: own.status?.conditions ?? [], versions } })
  await operator.reconcile()
  const { status: after } = await kube.get('ClusterOperator', CLUSTER_OPERATOR)
  return after?.conditions.find(({ type, status: is }) => type === 'Degraded' && is === 'True')?.message
}

test.each([
  ['4.21.9', 'Unable to apply 4.22.0: '],
  ['4.22.0', 'Failed to resync 4.22.0 because: '],
])(
  'a pool that is not rendered degrades the operator, which says no reason, as the real one: it reports %s',
  async (reported, begin) => {
    expect(await degraded(reported)).toBe(
      `${begin}during syncRequiredMachineConfigPools: [context deadline exceeded, MachineConfigPool worker is not ready, retrying. Status: (pool degraded: true total: 0, ready 0, updated: 0, unavailable: 0, reason: )]`,
    )
  },
)
