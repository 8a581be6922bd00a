import { decodeEscapes } from '../../base/bytes/index.js'
import { KIB } from '../../base/runtime/index.js'
import type { BodyLimits, IronicOperation } from '../../base/wire/index.js'
import type { ServiceSettings } from '../config/service-options.js'

export type BodyLimitSettings = Pick<
  ServiceSettings,
  'maxBodySize' | 'maxProvisionBodySize' | 'maxInspectionBodySize' | 'maxBodyDepth'
>

/** Largest body of a call, in KiB. Two calls carry more than others: a config drive, an inventory with its logs. */
export function largestOf({ id }: Pick<IronicOperation, 'id'>, limits: BodyLimitSettings): number {
  if (id === 'nodes.provision') return limits.maxProvisionBodySize
  return id === 'continueInspection' ? limits.maxInspectionBodySize : limits.maxBodySize
}

export const tooLarge = (largest: number): string =>
  `The request body is larger than ${largest} KiB, the most that this call takes.`

/**
 * Limits of {@link readBody} by path. The server applies them while a body arrives, so that many oversized requests at
 * once cannot fill the memory. Paths outside Ironic's API have the largest limit.
 */
export const bodyLimitsOf =
  (limits: BodyLimitSettings): BodyLimits =>
  (target) => {
    const [, path = ''] = /^(?:\/+v1(?=\/))?\/+([^?]*)/.exec(decodeEscapes(target)) ?? []
    const provision = /^nodes\/.*\/states\/+provision(\.json)?\/*$/.test(path) || path.startsWith('_lab/')
    const inspection = path.startsWith('continue_inspection')
    const largest = largestOf({ id: provision ? 'nodes.provision' : inspection ? 'continueInspection' : '' }, limits)
    return { largest: largest * KIB, refusal: tooLarge(largest) }
  }
