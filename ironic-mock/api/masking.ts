import type { JsonObject } from '../../wire/index.js'

export const MASK = '******'

/** Parts of key names, in lower case, whose values oslo.utils hides; the two of SNMP are Ironic's own. */
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

/** A copy with the values of secret-looking keys hidden, at any depth of objects (lists are left as they are). */
export function maskSecrets(info: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(info).map(([key, value]) => {
      if (value !== null && typeof value === 'object' && !Array.isArray(value))
        return [key, maskSecrets(value as JsonObject)]
      return [key, isSecret(key) ? MASK : value]
    }),
  )
}

/** Of instance_info also the configdrive, which may be an object, and the image URL, which may be a signed one. */
export function maskInstanceInfo(info: JsonObject): JsonObject {
  const masked = maskSecrets(info)
  for (const key of ['configdrive', 'image_url']) if (masked[key]) masked[key] = MASK
  return masked
}
