import { isObject } from '../../base/runtime/index.js'
import type { DumpedDocument } from '../../bmc/dumps/index.js'

/** Properties whose texts open something. */
const SECRET_NAME =
  /password|passphrase|secret|private.?key|communit(y|ies)|^token$|auth.?token|encryption.?key|authentication.?key|activation.?key|license.?key|^key$|sharedkey/i

/** Names in which such a word says something else, as in `PasswordExpiration`. */
const NO_SECRET = /expir|policy|length|lockout|change|complex|enabl|count|status|attempt|requir|rule|min|max|type/i

/** A text that is a key or a certificate wherever it stands. */
const PEM_TEXT = /-----BEGIN [A-Z ]+-----/

/** A document without passwords, keys and certificates: null, or a word, is in their place. */
export function withoutSecrets(document: DumpedDocument): DumpedDocument {
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name, withoutSecret(name, value)]))
}

function withoutSecret(name: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (PEM_TEXT.test(value)) return 'removed'
    // A BMC that masks its passwords itself goes on to show that it has them.
    const isSecret = SECRET_NAME.test(name) && !NO_SECRET.test(name) && !/^\**$/.test(value)
    return isSecret && !value.startsWith('/') ? null : value
  }
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSecret(name, item))
  return isObject(value) ? withoutSecrets(value) : value
}
