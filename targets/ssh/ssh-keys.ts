import type { ParsedKey } from 'ssh2'
import { formatFingerprint } from './known-hosts.js'
import { loadSsh2 } from './ssh2.js'

/** Makes an Ed25519 key; `private` is in OpenSSH's form. */
export function newSshKey(): { private: string; public: string } {
  const { utils } = loadSsh2()
  // ssh2 cannot read about one in three hundred of the keys that it makes.
  for (;;) {
    const key = utils.generateKeyPairSync('ed25519')
    if (!(utils.parseKey(key.private) instanceof Error)) return key
  }
}

/** The public key of a private one, in the form of SSH's protocol. */
export const publicKeyOf = (privateKey: string): Buffer =>
  (loadSsh2().utils.parseKey(privateKey) as ParsedKey).getPublicSSH()

/** Fingerprint of a private key's public key, as pins have it. */
export const fingerprintOf = (privateKey: string): string => formatFingerprint(publicKeyOf(privateKey))
