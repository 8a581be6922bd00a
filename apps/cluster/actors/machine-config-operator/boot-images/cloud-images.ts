import type { MachineProviderSpec } from '../../../../../base/kubernetes/index.js'
import type { StreamArchitecture } from '../../../../../coreos/index.js'
import type { Cloud } from '../../../site/cloud-platforms.js'
import { azureImageChange } from './azure-images.js'

/** Future of the boot image in a machine set's settings: it is that of the release, is left alone, or is replaced. */
export type ImageChange =
  | { kind: 'same' }
  /** `isCounted` says that the object counts as skipped: the administrator has to look after it. */
  | { kind: 'skipped'; why: string; isCounted: boolean }
  | { kind: 'changed'; value: MachineProviderSpec; image: string }

/** Facts that the change follows from. */
export interface ImageQuestion {
  /** Name of the machine set. */
  name: string
  value: MachineProviderSpec
  /** Images of the release for the architecture of the machine set. */
  offered: StreamArchitecture
  architecture: string
  leavesUnknown: boolean
  /** True of an image of AWS that an installer of OpenShift has used. */
  isKnownAmi: (id: string) => boolean
}

/**
 * Finds the change of a machine set on a cloud (machine-config-operator 7ff337a pkg/controller/bootimage/platform_helpers.go).
 *
 * @throws Error where the image of the release cannot be told
 */
export const imageChange = (cloud: Cloud, question: ImageQuestion): ImageChange => CHANGES[cloud](question)

const CHANGES: Readonly<Record<Cloud, (question: ImageQuestion) => ImageChange>> = {
  GCP: gcpImageChange,
  AWS: awsImageChange,
  Azure: azureImageChange,
}

/** Project of GCP with the images of RHEL CoreOS. */
const GCP_IMAGES = 'projects/rhcos-cloud/global/images'

function gcpImageChange({ name, value, offered, leavesUnknown }: ImageQuestion): ImageChange {
  const gcp = offered.images?.gcp
  if (!gcp) throw new Error('the stream metadata names no image for gcp')
  const image = `projects/${gcp.project ?? ''}/global/images/${gcp.name}`
  const { disks = [] } = value
  const others = disks.filter((disk) => disk.boot === true && disk.image !== image)
  if (others.length === 0) return { kind: 'same' }
  const unknown = others.find((disk) => !(disk.image ?? '').startsWith(GCP_IMAGES))
  if (unknown && leavesUnknown) return unknownImage(`boot image ${unknown.image ?? ''}`, name)
  const changed = disks.map((disk) => (disk.boot === true ? { ...disk, image } : disk))
  return { kind: 'changed', value: { ...value, disks: changed }, image }
}

function awsImageChange(question: ImageQuestion): ImageChange {
  const { name, value, offered, leavesUnknown, isKnownAmi } = question
  const current = value.ami?.id
  const region = value.placement?.region ?? ''
  if (current === undefined)
    return {
      kind: 'skipped',
      why: `current AMI.ID is undefined, skipping update of MachineSet ${name}`,
      isCounted: true,
    }
  if (!isKnownAmi(current) && leavesUnknown) return unknownImage(`AMI ${current}`, name)
  const image = offered.images?.aws?.regions?.[region]?.image
  if (image === undefined)
    return {
      kind: 'skipped',
      why: `failed to get AMI for region ${region}, skipping update of MachineSet ${name}`,
      isCounted: true,
    }
  return image === current ? { kind: 'same' } : { kind: 'changed', value: { ...value, ami: { id: image } }, image }
}

const unknownImage = (image: string, set: string): ImageChange => ({
  kind: 'skipped',
  why: `current ${image} is unknown, skipping update of MachineSet ${set}`,
  isCounted: true,
})
