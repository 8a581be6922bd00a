import { defined } from '../../base/runtime/index.js'
import type { RequestedHost, RamdiskSource } from '../provisioner/host-data-model.js'
import {
  conditionOf,
  isSameJson,
  apiVersionOf,
  type PreprovisioningImage,
  type KubeClient,
  type Behaviours,
} from '../../base/kubernetes/index.js'
import { COPIES_LABELS } from './baremetal-behaviours.js'
import type { ManagedHost } from './host-status.js'

const DEPLOY_IMAGE_FINALIZER = 'baremetalhost.metal3.io/preprovisioningImage'

type PreprovisioningSpec = PreprovisioningImage['spec']

export interface DeployImageParts {
  kube: KubeClient
  behaviours: Behaviours
  managed: ManagedHost
  host: RequestedHost
  /** The kernel of images that bring none. */
  ramdisk: RamdiskSource
}

/** A sentence of the one who makes the images, or of who asks for one. */
export interface ImageError {
  error: string
}

/** True if a state boots the host's own image (registerHost of the controller). */
export function needsDeployImage({ status, spec }: ManagedHost): boolean {
  switch (status.provisioning.state) {
    case 'registering':
    case 'deleting':
    case 'powering off before delete':
      return false
    case 'provisioned':
    case 'externally provisioned':
      return status.operationalStatus === 'servicing'
    case 'inspecting':
      return spec['inspectionMode'] !== 'fast'
    case 'deprovisioning':
      return spec['automatedCleaningMode'] !== 'disabled'
    default:
      return true
  }
}

/** True if a state goes no further without the image (configureNode of the provisioner). */
export const waitsForDeployImage = (managed: ManagedHost): boolean =>
  needsDeployImage(managed) && ['deprovisioning', 'inspecting', 'preparing'].includes(managed.status.provisioning.state)

/**
 * The image that is made for a host, in a PreprovisioningImage of its name; null for as long as there is none
 * (getPreprovImage of the controller).
 */
export async function deployImage(parts: DeployImageParts): Promise<RamdiskSource | ImageError | null> {
  const { kube, managed, host, behaviours } = parts
  const { name, namespace = '' } = managed.metadata
  const labels = behaviours.has(COPIES_LABELS) ? managed.metadata.labels : undefined
  const networkDataName = managed.spec['preprovisioningNetworkDataName'] as string | undefined
  const spec: PreprovisioningSpec = {
    ...defined({ networkDataName }),
    architecture: host.architecture!,
    acceptFormats: [...(host.bmc.takesIso ? ['iso' as const] : []), 'initrd'],
  }
  const image = await kube.find('PreprovisioningImage', { name, namespace })
  if (!image) {
    await kube.create<'PreprovisioningImage'>({
      apiVersion: apiVersionOf('PreprovisioningImage'),
      kind: 'PreprovisioningImage',
      spec,
      metadata: {
        name,
        namespace,
        finalizers: [DEPLOY_IMAGE_FINALIZER],
        ownerReferences: [ownedBy(managed, true)],
        ...defined({ labels }),
      },
    })
    return null
  }
  const { metadata } = image
  if (metadata.deletionTimestamp !== undefined)
    return metadata.finalizers?.includes(DEPLOY_IMAGE_FINALIZER) && image.status?.imageUrl
      ? ramdiskSourceOf(parts, image)
      : null
  const wanted = {
    ...image,
    metadata: {
      ...metadata,
      finalizers: [...new Set([...(metadata.finalizers ?? []), DEPLOY_IMAGE_FINALIZER])],
      ...defined({ labels: labels || metadata.labels ? { ...metadata.labels, ...labels } : undefined }),
    },
    spec,
  }
  if (!isSameJson(wanted, image)) {
    await kube.update<'PreprovisioningImage'>(wanted)
    return null
  }
  const isReady = await readiness(kube, image)
  if (typeof isReady === 'object') return isReady
  return isReady ? ramdiskSourceOf(parts, image) : null
}

async function readiness(kube: KubeClient, { spec, status, metadata }: PreprovisioningImage) {
  if (status?.architecture !== spec.architecture) return false
  if (!status?.format || !spec.acceptFormats?.includes(status.format)) return false
  const { networkDataName: name = '' } = spec
  if (name !== '') {
    const { namespace = '' } = metadata
    const secret = await kube.find('Secret', { name, namespace })
    if (!secret || status.networkData?.version !== secret.metadata.resourceVersion) return false
  }
  if ((status.networkData?.name ?? '') !== name) return false
  const error = conditionOf(status.conditions, 'Error')
  if (error?.status === 'True') return { error: error.message ?? '' }
  const ready = conditionOf(status.conditions, 'Ready')
  return ready?.status === 'True' && (ready.observedGeneration ?? metadata.generation) === metadata.generation
}

/** setDeployImage of the provisioner: null if the BMC takes no ISO, or no kernel is known. */
function ramdiskSourceOf({ host, ramdisk }: DeployImageParts, { status }: PreprovisioningImage): RamdiskSource | null {
  const { format, imageUrl, kernelUrl, extraKernelParams } = status ?? {}
  if (format === 'iso') return host.bmc.takesIso ? { deployIso: imageUrl! } : null
  const deployKernel = kernelUrl ? kernelUrl : ramdisk.deployKernel
  if (deployKernel === undefined) return null
  return {
    deployKernel,
    deployRamdisk: imageUrl!,
    ...defined({ kernelParameters: extraKernelParams || undefined }),
  }
}

export interface OwningObject {
  kind?: 'BareMetalHost' | 'BareMetalSwitch'
  metadata: { name: string; uid: string }
}

/** Lets the image go with its host. */
export async function releaseDeployImage(kube: KubeClient, { metadata }: ManagedHost): Promise<void> {
  const { name, namespace = '' } = metadata
  const image = await kube.find('PreprovisioningImage', { name, namespace })
  if (!image?.metadata.finalizers?.includes(DEPLOY_IMAGE_FINALIZER)) return
  const finalizers = image.metadata.finalizers.filter((each) => each !== DEPLOY_IMAGE_FINALIZER)
  await kube.update<'PreprovisioningImage'>({ ...image, metadata: { ...image.metadata, finalizers } })
}

/** A reference to the owner of another object: a host, or a switch. */
export const ownedBy = ({ kind = 'BareMetalHost', metadata }: OwningObject, controller: boolean) => ({
  apiVersion: apiVersionOf(kind),
  kind,
  name: metadata.name,
  uid: metadata.uid,
  ...defined({ controller: controller || undefined }),
})
