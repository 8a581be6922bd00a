import { createHash } from 'node:crypto'

const ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ROUNDS = 5000
/** The order in which the digest's bytes are written, three for four characters. */
const ORDER = [
  0, 10, 20, 21, 1, 11, 12, 22, 2, 3, 13, 23, 24, 4, 14, 15, 25, 5, 6, 16, 26, 27, 7, 17, 18, 28, 8, 9, 19, 29,
]

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/**
 * A password as `crypt(3)` hashes it with SHA-256: `$5$SALT$...`. After Ulrich Drepper's public description of
 * SHA-crypt; what Ironic sends an agent as rescue password.
 *
 * @param salt up to 16 characters of `./0-9A-Za-z`
 */
export function shaCrypt(password: string, salt: string): string {
  const key = Buffer.from(password)
  const own = Buffer.from(salt.slice(0, 16))
  const b = sha256(key, own, key)
  const parts: Uint8Array[] = [key, own, repeated(b, key.length)]
  for (let bits = key.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? b : key)
  let digest = sha256(...parts)

  const p = repeated(sha256(...Array.from({ length: key.length }, () => key)), key.length)
  const s = repeated(sha256(...Array.from({ length: 16 + digest[0]! }, () => own)), own.length)
  for (let round = 0; round < ROUNDS; round++) {
    const odd = round % 2 === 1
    digest = sha256(odd ? p : digest, ...(round % 3 ? [s] : []), ...(round % 7 ? [p] : []), odd ? digest : p)
  }
  return `$5$${own.toString()}$${encoded(digest)}`
}

const repeated = (block: Buffer, length: number): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(length / block.length) || 0 }, () => block)).subarray(0, length)

function encoded(digest: Buffer): string {
  let text = ''
  for (let at = 0; at < ORDER.length; at += 3)
    text += characters((digest[ORDER[at]!]! << 16) | (digest[ORDER[at + 1]!]! << 8) | digest[ORDER[at + 2]!]!, 4)
  return text + characters((digest[31]! << 8) | digest[30]!, 3)
}

function characters(value: number, count: number): string {
  let text = ''
  for (let left = value, i = 0; i < count; i++, left >>= 6) text += ALPHABET[left & 63]
  return text
}
