import { openKube } from '../../../apps/cluster/kube/open-kube.js'
import type { BareMetalHost } from '../../../apps/cluster/kube/kinds/metal3-kinds.js'
import type { NewObject } from '../../../apps/cluster/kube/object.js'
import { KubeRefusal } from '../../../apps/cluster/kube/kube-refusal.js'
import { seededRandom, VirtualClock } from '../../../base/runtime/index.js'

/** A Kubernetes API in this process, whose time stands still. */
export const openTestKube = () => openKube({ clock: new VirtualClock(Date.UTC(2026, 0, 1)), random: seededRandom(7) })

/** A host for the namespace `metal3`. */
export const host = (
  name: string,
  more: Partial<NewObject<BareMetalHost>['metadata']> = {},
): NewObject<BareMetalHost> & { kind: 'BareMetalHost' } => ({
  apiVersion: 'metal3.io/v1alpha1',
  kind: 'BareMetalHost',
  spec: { online: true },
  metadata: { name, namespace: 'metal3', ...more },
})

/** Names of hosts. */
export const WORKER_0 = { name: 'worker-0', namespace: 'metal3' }
export const WORKER_1 = { name: 'worker-1', namespace: 'metal3' }

/**
 * The status of a refusal.
 *
 * @throws Error when the work is not refused
 */
export const refused = async (work: Promise<unknown>): Promise<KubeRefusal['status']> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof KubeRefusal)) throw new Error('it was not refused', { cause: error })
  return error.status
}
