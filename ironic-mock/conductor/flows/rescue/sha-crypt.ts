import { createHash } from 'node:crypto'

/** `[conductor]rescue_password_hash_algorithm` */
export type ShaCryptAlgorithm = 'sha256' | 'sha512'

const ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ROUNDS = 5000

/** The order in which the digest's bytes are written, three for four characters. */
const ORDERS: Readonly<Record<ShaCryptAlgorithm, readonly number[]>> = {
  sha256: triples(10, (i) => (3 - (i % 3)) % 3),
  sha512: triples(21, (i) => i % 3),
}
const CRYPT_PREFIXES: Readonly<Record<ShaCryptAlgorithm, string>> = { sha256: '$5$', sha512: '$6$' }

/** Bytes a third of the digest apart, each triple rotated by some places. */
function triples(count: number, rotation: (index: number) => number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const bytes = [i, i + count, i + 2 * count]
    return [0, 1, 2].map((at) => bytes[(at + rotation(i)) % 3]!)
  }).flat()
}

/**
 * A password as `crypt(3)` hashes it with SHA-256 or SHA-512: `$5$SALT$...`, `$6$SALT$...`. After Ulrich Drepper's public
 * description of SHA-crypt; what Ironic sends an agent as rescue password.
 *
 * @param salt up to 16 characters of `./0-9A-Za-z`
 */
export function shaCrypt(password: string, salt: string, algorithm: ShaCryptAlgorithm = 'sha256'): string {
  const digestOf = (...parts: readonly Uint8Array[]): Buffer => {
    const hash = createHash(algorithm)
    for (const part of parts) hash.update(part)
    return hash.digest()
  }
  const key = Buffer.from(password)
  const own = Buffer.from(salt.slice(0, 16))
  const b = digestOf(key, own, key)
  const parts: Uint8Array[] = [key, own, repeatBlock(b, key.length)]
  for (let bits = key.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? b : key)
  let digest = digestOf(...parts)

  const p = repeatBlock(digestOf(...Array.from({ length: key.length }, () => key)), key.length)
  const s = repeatBlock(digestOf(...Array.from({ length: 16 + digest[0]! }, () => own)), own.length)
  for (let round = 0; round < ROUNDS; round++) {
    const odd = round % 2 === 1
    digest = digestOf(odd ? p : digest, ...(round % 3 ? [s] : []), ...(round % 7 ? [p] : []), odd ? digest : p)
  }
  return `${CRYPT_PREFIXES[algorithm]}${own.toString()}$${encoded(digest, ORDERS[algorithm])}`
}

const repeatBlock = (block: Buffer, length: number): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(length / block.length) || 0 }, () => block)).subarray(0, length)

function encoded(digest: Buffer, order: readonly number[]): string {
  let text = ''
  for (let at = 0; at < order.length; at += 3)
    text += characters((digest[order[at]!]! << 16) | (digest[order[at + 1]!]! << 8) | digest[order[at + 2]!]!, 4)
  // The remaining bytes of the last third: one or two.
  const left = digest.length - order.length
  if (left === 1) return text + characters(digest.at(-1)!, 2)
  return text + characters((digest.at(-1)! << 8) | digest.at(-2)!, 3)
}

function characters(value: number, count: number): string {
  let text = ''
  for (let left = value, i = 0; i < count; i++, left >>= 6) text += ALPHABET[left & 63]
  return text
}
