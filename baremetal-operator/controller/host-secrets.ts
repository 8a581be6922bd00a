import { defined } from '../../base/runtime/index.js'
import { type Secret, type KubeClient, isSameJson } from '../../base/kubernetes/index.js'
import { ownedBy, type OwningObject } from './deploy-image.js'

/** Marks on the Secrets of hosts (pkg/secretutils of baremetal-operator): the operator watches those alone. */
const SECRET_LABEL = { 'environment.metal3.io': 'baremetal' }
const SECRET_FINALIZER = 'baremetalhost.metal3.io/secret'

export interface Claim {
  /** The host or the switch that the Secret goes with. */
  owner?: OwningObject
  /** True if the Secret stays until the host is gone. */
  isHeld?: boolean
}

/** Marks a Secret as one that a host uses. */
export async function claimSecret(kube: KubeClient, secret: Secret, { owner, isHeld = false }: Claim): Promise<Secret> {
  const { metadata } = secret
  const { finalizers = [], ownerReferences = [] } = metadata
  const isOwned = !owner || ownerReferences.some(({ uid, controller }) => uid === owner.metadata.uid && !controller)
  const claimed = {
    ...metadata,
    labels: { ...SECRET_LABEL, ...metadata.labels },
    ...defined({
      ownerReferences: isOwned ? undefined : [...ownerReferences, ownedBy(owner, false)],
      finalizers: isHeld && !finalizers.includes(SECRET_FINALIZER) ? [...finalizers, SECRET_FINALIZER] : undefined,
    }),
  }
  return isSameJson(claimed, metadata) ? secret : kube.update<'Secret'>({ ...secret, metadata: claimed })
}

/** Lets a Secret go. */
export async function releaseSecret(kube: KubeClient, secret: Secret | undefined): Promise<void> {
  if (!secret?.metadata.finalizers?.includes(SECRET_FINALIZER)) return
  const finalizers = secret.metadata.finalizers.filter((each) => each !== SECRET_FINALIZER)
  await kube.update<'Secret'>({ ...secret, metadata: { ...secret.metadata, finalizers } })
}
