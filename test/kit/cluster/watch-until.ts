import { defined } from '../../../base/runtime/index.js'
import type { KubeClient } from '../../../apps/cluster/kube/kube-client.js'
import type { KubeKind, KubeKinds } from '../../../apps/cluster/kube/kinds.js'

/**
 * Watches until an object is as it should be, or the signal aborts.
 *
 * @throws Error when the watch ends before
 */
export async function watchUntil<K extends KubeKind>(
  kube: KubeClient,
  kind: K,
  at: { name: string; namespace?: string | undefined; signal: AbortSignal },
  holds: (object: KubeKinds[K]) => boolean,
): Promise<KubeKinds[K]> {
  const { name, namespace, signal } = at
  const where = { fieldSelector: `metadata.name=${name}`, ...defined({ namespace }) }
  for await (const { type, object } of kube.watch(kind, { ...where, signal }))
    if (type !== 'DELETED' && holds(object)) return object
  throw new Error('the watch has ended')
}
