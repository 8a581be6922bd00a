import { MASKED_IGNITION } from '../ignition/index.js'
import { withoutPasswords } from '../base/bytes/index.js'
import { isSecret } from '../ironic-mock/index.js'

const SECRET_KEY = /(password|passphrase|secret|token|private_?key)$/i

/** A password's hash as crypt(5) writes it: Ignition prints those of its users. */
const PASSWORD_HASH = /\$(1|2[abxy]?|5|6|7|y|gy)\$[\w./,=$-]{6,}/g

/** Masks passwords in URLs, hashes of passwords, and whole Ignition configs. */
export function maskedText(text: string): string {
  return withoutPasswords(text)
    .replace(/\{\s*\\?"ignition\\?"\s*:.*\}/s, MASKED_IGNITION)
    .replace(PASSWORD_HASH, `$$$1$$${MASKED_IGNITION}`)
}

/**
 * Masks a JSON value: its texts as {@link maskedText} does, and all values whose key is the name of a secret, of Ironic's
 * names too.
 */
export function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskedText(value)
  if (Array.isArray(value)) return value.map(maskValue)
  if (typeof value !== 'object' || value === null) return value
  if (isIgnition(value)) return MASKED_IGNITION
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, hides(key, inner) ? MASKED_IGNITION : maskValue(inner)]),
  )
}

/** True if a value is a secret by its key. Ironic's names are parts of others too, such as `agent_token_required`. */
const hides = (key: string, value: unknown): boolean =>
  SECRET_KEY.test(key) ||
  (isSecret(key) &&
    (typeof value === 'string' || typeof value === 'number' || (key === 'configdrive' && value !== null)))

function isIgnition(value: object): boolean {
  const ignition: unknown = 'ignition' in value ? value.ignition : undefined
  return typeof ignition === 'object' && ignition !== null && 'version' in ignition
}
