import { createHash } from 'node:crypto'

/**
 * The fingerprint of an authorized_keys line as `ssh-keygen -l` prints it, `SHA256:` and unpadded base64; null when the
 * line holds no key. Options in front of the key are allowed, as sshd allows them.
 */
export function sshKeyFingerprint(line: string): string | null {
  const blob = /(?:^|\s)(?:sk-)?(?:ssh|ecdsa)-[\w@.-]+\s+([A-Za-z0-9+/]+={0,2})(?:\s|$)/.exec(line)?.[1]
  if (!blob) return null
  const digest = createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}
