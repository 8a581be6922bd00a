import { isObject } from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'

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

export const isSecret = (key: string): boolean => SECRET_PARTS.some((part) => key.toLowerCase().includes(part))

/** Hides the secrets in the arguments of steps, at any depth of objects, as oslo.utils `mask_dict_password` does. */
export const withMaskedArgs = (steps: readonly JsonObject[]): JsonObject[] =>
  steps.map((step) => (isObject(step.args) ? { ...step, args: maskArgs(step.args) } : step))

const maskArgs = (args: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(args).map(([key, value]) => [
      key,
      isObject(value) ? maskArgs(value) : isSecret(key) ? '***' : value,
    ]),
  )
