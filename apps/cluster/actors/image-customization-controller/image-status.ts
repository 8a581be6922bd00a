import { defined, minutes, seconds, type Clock } from '../../../../base/runtime/index.js'
import { conditionOf, withCondition } from '../../kube/conditions.js'
import type { PreprovisioningImage } from '../../kube/kinds/metal3-kinds.js'

export type ImageStatus = NonNullable<PreprovisioningImage['status']>

/** Reasons of both conditions (baremetal-operator 02aa505 pkg/controllers/preprovisioningimage_controller.go). */
export type ErrorReason = 'ConfigurationError' | 'MissingNetworkData' | 'ImageBuildInvalid'

/** An image that was built, or none yet. */
export interface BuiltImage {
  imageUrl?: string
  kernelUrl?: string
  extraKernelParams?: string
}

/** Settings of an image, which is made again when one of these changes. */
export type ImageConfig = Pick<ImageStatus, 'format' | 'architecture' | 'networkData'>

const SUCCESS = 'ImageSuccess'

export function withImage(
  status: ImageStatus,
  image: BuiltImage,
  config: ImageConfig,
  { message, clock }: { message: string; clock: Clock },
): ImageStatus {
  const ready = image.imageUrl === undefined ? 'False' : 'True'
  const conditions = withCondition(
    withCondition(status.conditions, { type: 'Ready', status: ready, reason: SUCCESS, message }, clock),
    { type: 'Error', status: 'False', reason: SUCCESS, message: '' },
    clock,
  )
  return { ...configOf(config), ...image, conditions }
}

export const notReady = (status: ImageStatus, message: string, clock: Clock): ImageStatus => ({
  ...status,
  conditions: withCondition(status.conditions, { type: 'Ready', status: 'False', reason: SUCCESS, message }, clock),
})

export function withError(status: ImageStatus, reason: ErrorReason, message: string, clock: Clock): ImageStatus {
  const { imageUrl: _, ...rest } = status
  const conditions = withCondition(
    withCondition(status.conditions, { type: 'Ready', status: 'False', reason, message: '' }, clock),
    { type: 'Error', status: 'True', reason, message },
    clock,
  )
  return { ...rest, conditions }
}

export const isSameConfig = (status: ImageStatus, config: ImageConfig): boolean =>
  JSON.stringify(configOf(status)) === JSON.stringify(configOf(config))

const configOf = ({ format, architecture, networkData }: ImageConfig): ImageConfig =>
  defined({ format, architecture, networkData })

const MIN_IMAGE_RETRY_DELAY = seconds(10)
const MAX_IMAGE_RETRY_DELAY = minutes(10)

/** The pause before a missing secret is looked for again: the longer it is missing, the longer. */
export function retryDelay({ conditions }: ImageStatus, clock: Clock): number {
  const error = conditionOf(conditions, 'Error')
  if (error?.status !== 'True') return MIN_IMAGE_RETRY_DELAY
  return Math.min(clock.now() - Date.parse(error.lastTransitionTime) + MIN_IMAGE_RETRY_DELAY, MAX_IMAGE_RETRY_DELAY)
}
