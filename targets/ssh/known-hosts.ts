import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** A file in sshd(8)'s SSH_KNOWN_HOSTS FILE FORMAT. */
export interface KnownHostsFile {
  path: string
  text: string
}

/** Host and port to look up. */
export interface HostName {
  host: string
  port: number
}

export type HostKeyVerdict =
  | { kind: 'known'; where: string }
  | { kind: 'revoked'; where: string }
  /** Another key of the same type is known. */
  | { kind: 'changed'; where: string; known: string }
  /** `authority`: line of a certificate authority for the host, which must have signed its key. */
  | { kind: 'unknown'; authority: string | null }

interface KnownHostEntry {
  marker: 'cert-authority' | 'revoked' | null
  matches: boolean
  type: string
  key: Buffer
  where: string
}

/**
 * Compares a host's key with the known ones, by OpenSSH's rules: a revoked key is always refused, any entry with the same
 * key is enough, and another key of the same type is a changed key.
 *
 * @param key in SSH's wire format
 */
export function judgeHostKey(files: readonly KnownHostsFile[], name: HostName, key: Uint8Array): HostKeyVerdict {
  const entries = files.flatMap((file) => entriesOf(file, name))
  const same = (entry: KnownHostEntry) => entry.key.length === key.length && timingSafeEqual(entry.key, key)
  const type = keyType(key)
  const here = entries.filter(({ matches }) => matches)
  const revoked = here.find((entry) => entry.marker === 'revoked' && same(entry))
  if (revoked) return { kind: 'revoked', where: revoked.where }
  const plain = here.filter(({ marker }) => marker === null)
  const known = plain.find(same)
  if (known) return { kind: 'known', where: known.where }
  const other = plain.find((entry) => entry.type === type)
  if (other) return { kind: 'changed', where: other.where, known: formatFingerprint(other.key) }
  return { kind: 'unknown', authority: here.find(({ marker }) => marker === 'cert-authority')?.where ?? null }
}

export type AuthorityVerdict = { kind: 'trusted' | 'revoked'; where: string } | { kind: 'unknown' }

/** True if certificates of an authority are trusted for a host. A `@revoked` line counts for all hosts that it matches. */
export function judgeAuthority(files: readonly KnownHostsFile[], name: HostName, key: Uint8Array): AuthorityVerdict {
  const here = authorityEntries(files, name).filter(
    (entry) => entry.key.length === key.length && timingSafeEqual(entry.key, key),
  )
  const revoked = here.find(({ marker }) => marker === 'revoked')
  if (revoked) return { kind: 'revoked', where: revoked.where }
  const known = here.find(({ marker }) => marker === 'cert-authority')
  return known ? { kind: 'trusted', where: known.where } : { kind: 'unknown' }
}

/** True if known_hosts has a certificate authority for a host. */
export const hasAuthority = (files: readonly KnownHostsFile[], name: HostName): boolean =>
  authorityEntries(files, name).some(({ marker }) => marker === 'cert-authority')

/** Entries for a host on its own port and without a port, as in OpenSSH: an authority usually is for all ports. */
const authorityEntries = (files: readonly KnownHostsFile[], name: HostName): KnownHostEntry[] =>
  files.flatMap((file) => [name, { ...name, port: 22 }].flatMap((as) => entriesOf(file, as))).filter((e) => e.matches)

/** Types of a host's known keys. The client prefers them, or the host would show a key of an unknown type. */
export function knownKeyTypes(files: readonly KnownHostsFile[], name: HostName): string[] {
  const entries = files.flatMap((file) => entriesOf(file, name))
  return [...new Set(entries.filter(({ matches, marker }) => matches && marker === null).map(({ type }) => type))]
}

/** `SHA256:` and unpadded base64, as ssh(1) and ssh-keygen -l show it. */
export const formatFingerprint = (key: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

/** Type of a key, which is its first field. */
export function keyType(key: Uint8Array): string {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength)
  if (bytes.length < 4) return ''
  const length = bytes.readUInt32BE(0)
  return bytes.subarray(4, 4 + length).toString('latin1')
}

/** A host as known_hosts writes it, with a port other than 22. */
export const knownAs = ({ host, port }: HostName): string =>
  port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`

function entriesOf({ path, text }: KnownHostsFile, name: HostName): KnownHostEntry[] {
  return text.split(/\r?\n/).flatMap((line, index): KnownHostEntry[] => {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const fields = trimmed.split(/[ \t]+/)
    const marked = fields[0]!.startsWith('@') ? fields.shift()!.slice(1) : null
    const [hosts, type, base64] = fields
    if (hosts === undefined || type === undefined || base64 === undefined) return []
    if (marked !== null && marked !== 'cert-authority' && marked !== 'revoked') return []
    const key = Buffer.from(base64, 'base64')
    // The type of the line must be that of its key.
    if (keyType(key) !== type) return []
    const where = `${path}:${index + 1}`
    return [{ marker: marked, matches: matchesHost(hosts, knownAs(name)), type, key, where }]
  })
}

function matchesHost(field: string, name: string): boolean {
  if (field.startsWith('|1|')) return matchesHash(field, name)
  let matched = false
  for (const pattern of field.split(',')) {
    const negated = pattern.startsWith('!')
    if (!knownHostPattern(negated ? pattern.slice(1) : pattern).test(name)) continue
    if (negated) return false
    matched = true
  }
  return matched
}

/** `|1|SALT|HASH`: HMAC-SHA1 of the name, with the salt as its key. */
function matchesHash(field: string, name: string): boolean {
  const [, , salt = '', hash = ''] = field.split('|')
  const expected = Buffer.from(hash, 'base64')
  const found = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest()
  return expected.length === found.length && timingSafeEqual(expected, found)
}

/** Matches a pattern of known_hosts or of a certificate: whole names, case-insensitive. */
export const knownHostPattern = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern.replace(/[.*+?^${}()|[\]\\]/g, (character) => (character === '*' ? '.*' : character === '?' ? '.' : `\\${character}`))}$`,
    'i',
  )
