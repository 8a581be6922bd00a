import type { JsonObject } from '../../base/wire/index.js'
import { isSecret } from '../conductor/records/secret-keys.js'

const IRONIC_MASK = '******'

/** Copies an object with the values of secret-looking keys hidden, at any depth of objects. Lists stay as they are. */
export function maskSecrets(info: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(info).map(([key, value]) => {
      if (value !== null && typeof value === 'object' && !Array.isArray(value))
        return [key, maskSecrets(value as JsonObject)]
      return [key, isSecret(key) ? IRONIC_MASK : value]
    }),
  )
}

/**
 * Hides secrets of instance_info, and with them the config drive, which may be an object, and the image URL, which may
 * be signed.
 */
export function maskInstanceInfo(info: JsonObject): JsonObject {
  const masked = maskSecrets(info)
  for (const key of ['configdrive', 'image_url']) if (masked[key]) masked[key] = IRONIC_MASK
  return masked
}
