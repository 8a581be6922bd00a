import type { JsonObject } from '../../wire/index.js'

export const MASK = '******'

/** Parts of key names, in lower case, whose values are hidden as by oslo.utils; Ironic adds the two of SNMP. */
const SECRET_PARTS = [
  'adminpass',
  'admin_pass',
  'password',
  'auth_token',
  'new_pass',
  'secret',
  'sys_pswd',
  'token',
  'configdrive',
  'chappassword',
  'encrypted_key',
  'private_key',
  'fernetkey',
  'sslkey',
  'passphrase',
  'snmp_auth_key',
  'snmp_priv_key',
]

const isSecret = (key: string): boolean => SECRET_PARTS.some((part) => key.toLowerCase().includes(part))

/** Copies an object with the values of secret-looking keys hidden, at any depth of objects. Lists stay as they are. */
export function maskSecrets(info: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(info).map(([key, value]) => {
      if (value !== null && typeof value === 'object' && !Array.isArray(value))
        return [key, maskSecrets(value as JsonObject)]
      return [key, isSecret(key) ? MASK : value]
    }),
  )
}

/**
 * Hides secrets of instance_info, and with them the config drive, which may be an object, and the image URL, which may
 * be signed.
 */
export function maskInstanceInfo(info: JsonObject): JsonObject {
  const masked = maskSecrets(info)
  for (const key of ['configdrive', 'image_url']) if (masked[key]) masked[key] = MASK
  return masked
}
