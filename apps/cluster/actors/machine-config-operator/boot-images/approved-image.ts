import { defined } from '../../../../../base/runtime/index.js'
import type { BareMetalProviderSpec, MachineSet } from '../../../../../base/kubernetes/index.js'
import {
  APPROVED,
  BOOT_IMAGE_VERSION,
  providerSpecOf,
  BOOT_IMAGE_UPDATES,
  type OfferedImage,
} from './boot-image-sources.js'

/** Why a boot image was not taken, or was put back: an annotation of the machine set. */
export const BOOT_IMAGE_REFUSED = 'machineconfiguration.openshift.io/boot-image-refused'

const METHOD = 'install_coreos'

/** The part of a machine set that this operator manages. */
export type ApprovedImage = Pick<BareMetalProviderSpec, 'image' | 'customDeploy'>

/** The image and the method that a machine set has now. */
export function presentImage(set: MachineSet): ApprovedImage {
  const { image, customDeploy } = providerSpecOf(set)
  return defined({ image, customDeploy })
}

/** The image and the method that it had when this operator looked last. */
export function approvedImage({ metadata }: MachineSet): ApprovedImage | undefined {
  const text = metadata.annotations?.[APPROVED]
  return text === undefined ? undefined : (JSON.parse(text) as ApprovedImage)
}

export const approvedByRelease = ({ url, checksum }: OfferedImage): ApprovedImage => ({
  image: { url, checksum, checksumType: 'sha256' },
  customDeploy: { method: METHOD },
})

export const imageFileName = ({ image }: ApprovedImage): string => image?.url?.split('/').at(-1) ?? 'without a name'

/** True if a machine set keeps its image: it says so, or it never installed by this method. */
export function isPinned(set: MachineSet): boolean {
  const { annotations = {} } = set.metadata
  if (annotations[BOOT_IMAGE_UPDATES] === 'None') return true
  return annotations[APPROVED] === undefined && providerSpecOf(set).customDeploy?.method !== METHOD
}

/** The machine set with an image that is approved from now on. */
export function withApprovedImage(
  set: MachineSet,
  { image, customDeploy }: ApprovedImage,
  how: { version?: string | undefined; refused?: string },
): MachineSet {
  const approved: ApprovedImage = defined({ image, customDeploy })
  const { image: _image, customDeploy: _method, ...rest } = providerSpecOf(set)
  const { [BOOT_IMAGE_REFUSED]: _refused, ...annotations } = set.metadata.annotations ?? {}
  return {
    ...set,
    metadata: {
      ...set.metadata,
      annotations: {
        ...annotations,
        [APPROVED]: JSON.stringify(approved),
        ...defined({ [BOOT_IMAGE_VERSION]: how.version, [BOOT_IMAGE_REFUSED]: how.refused }),
      },
    },
    spec: {
      ...set.spec,
      template: {
        ...set.spec.template,
        spec: { ...set.spec.template.spec, providerSpec: { value: { ...rest, ...approved } } },
      },
    },
  }
}
