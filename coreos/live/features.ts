import { liveFileSchemas, parseLiveJson } from './json-file.js'
import { LiveImageError } from '../live-image-error.js'

/** Features that a live image declares in `coreos/features.json`. Old images have no such file. */
export interface OsFeatures {
  'installer-config'?: boolean
  'installer-config-directives'?: Record<string, boolean>
  'live-initrd-network'?: boolean
}

const osFeatures = liveFileSchemas.check<OsFeatures>({
  type: 'object',
  required: [],
  properties: {
    'installer-config': { type: 'boolean' },
    'installer-config-directives': { type: 'object', additionalProperties: { type: 'boolean' }, required: [] },
    'live-initrd-network': { type: 'boolean' },
  },
})

export const parseFeatures = (bytes: Uint8Array): OsFeatures => parseLiveJson(bytes, osFeatures, 'parsing OS features')

/** @throws LiveImageError for an image that would ignore network settings */
export function requireNetwork(features: OsFeatures): void {
  if (!features['live-initrd-network'])
    throw new LiveImageError('This OS image does not support customizing network settings.')
}
