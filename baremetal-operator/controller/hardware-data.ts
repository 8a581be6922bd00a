import { apiVersionOf, type KubeClient, isSameJson } from '../../base/kubernetes/index.js'
import { HARDWARE_DETAILS, isInspectionDisabled } from './annotations.js'
import { ownedBy } from './deploy-image.js'
import type { HardwareDetails } from './hardware-details.js'
import type { ManagedHost } from './host-status.js'

const HARDWARE_DATA_FINALIZER = 'baremetalhost.metal3.io/hardwareData'

const hardwareDataNameOf = ({ metadata: { name, namespace = '' } }: ManagedHost) => ({ name, namespace })

/** Hardware in the HardwareData of a host. */
export async function knownHardware(kube: KubeClient, host: ManagedHost): Promise<HardwareDetails | undefined> {
  return (await kube.find('HardwareData', hardwareDataNameOf(host)))?.spec.hardware as HardwareDetails | undefined
}

/** Replaces the HardwareData of a host that was inspected; a host that is deleted gets none. */
export async function keepHardware(kube: KubeClient, host: ManagedHost, hardware: object): Promise<void> {
  const { name, namespace } = hardwareDataNameOf(host)
  await releaseHardware(kube, host)
  if (await kube.find('HardwareData', { name, namespace })) await kube.delete('HardwareData', { name, namespace })
  if (host.metadata.deletionTimestamp !== undefined) return
  const owner = { ...ownedBy(host, true), blockOwnerDeletion: true }
  await kube.create<'HardwareData'>({
    apiVersion: apiVersionOf('HardwareData'),
    kind: 'HardwareData',
    spec: { hardware },
    metadata: { name, namespace, finalizers: [HARDWARE_DATA_FINALIZER], ownerReferences: [owner] },
  })
}

/** Lets the HardwareData go, with its host. */
export async function releaseHardware(kube: KubeClient, host: ManagedHost): Promise<void> {
  const found = await kube.find('HardwareData', hardwareDataNameOf(host))
  if (!found?.metadata.finalizers?.includes(HARDWARE_DATA_FINALIZER)) return
  const finalizers = found.metadata.finalizers.filter((each) => each !== HARDWARE_DATA_FINALIZER)
  await kube.update<'HardwareData'>({ ...found, metadata: { ...found.metadata, finalizers } })
}

/**
 * Hardware that the HardwareData or the annotation describes. It counts if the host has no hardware yet, or is not
 * inspected. Undefined if it does not differ from what the host has.
 *
 * @throws Error if the annotation is not a JSON object
 */
export async function otherHardware(kube: KubeClient, host: ManagedHost): Promise<object | undefined> {
  const { hardware } = host.status
  if (hardware && !isInspectionDisabled(host)) return undefined
  const text = host.metadata.annotations?.[HARDWARE_DETAILS] ?? ''
  const other = (await knownHardware(kube, host)) ?? (text === '' ? undefined : completed(text))
  return other && !isSameJson(other, hardware) ? other : undefined
}

/** Details as they are written back: with the structures that Go does not leave out. */
function completed(text: string): object {
  let details: Partial<HardwareDetails>
  try {
    details = JSON.parse(text) as Partial<HardwareDetails>
  } catch (cause) {
    throw new Error(`error parsing HardwareDetails from annotation ${HARDWARE_DETAILS}`, { cause })
  }
  return { systemVendor: {}, firmware: { bios: {} }, cpu: {}, ...details }
}
