import { createHash, createHmac } from 'node:crypto'
import { unsafeUniformIntDistribution, xoroshiro128plus } from 'pure-rand'

/** The only source of randomness, so that a seed replays a whole lab. */
export interface Random {
  bytes(length: number): Uint8Array
  /** A float in [0, 1). */
  next(): number
}

/** A random version 4 UUID. */
export function randomUuid(random: Random): string {
  const b = Buffer.from(random.bytes(16))
  b[6] = (b[6]! & 0x0f) | 0x40
  b[8] = (b[8]! & 0x3f) | 0x80
  const hex = b.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The same text gives the same UUID, in the form of version 4. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** A token as Python's `secrets.token_urlsafe()` makes it: 32 random bytes, 43 characters. */
export function urlSafeToken(random: Random, length = 32): string {
  return Buffer.from(random.bytes(length)).toString('base64url')
}

/** A float in [from, to). */
export const randomUniform = (random: Random, from: number, to: number): number => from + random.next() * (to - from)

/** Randomness whose position in its sequence can be stored and restored. */
export interface SeededRandom extends Random {
  take(): readonly number[]
  restore(state: readonly number[]): void
}

/** The same seed gives the same sequence. */
export function seededRandom(seed: number): SeededRandom {
  let generator = xoroshiro128plus(seed)
  return {
    take: () => generator.getState!(),
    restore: (state) => (generator = xoroshiro128plus.fromState(state)),
    bytes: (length) => {
      const bytes = new Uint8Array(length)
      for (let at = 0; at < length; at++) bytes[at] = unsafeUniformIntDistribution(0, 255, generator)
      return bytes
    },
    next: () => unsafeUniformIntDistribution(0, 2 ** 31 - 1, generator) / 2 ** 31,
  }
}

/**
 * A sequence that cannot be foreseen without its key, and whose place can be restored: for what must not be guessed, or must
 * not draw from another sequence.
 */
export function keyedRandom(key: Uint8Array | string): SeededRandom {
  let place = 0
  let block = new Uint8Array()
  let number = -1
  const byte = (): number => {
    const wanted = Math.floor(place / SHA256_BYTES)
    if (wanted !== number) {
      number = wanted
      block = createHmac('sha256', key).update(String(number)).digest()
    }
    return block[place++ % SHA256_BYTES]!
  }
  const bytes = (length: number): Uint8Array => {
    const drawn = new Uint8Array(length)
    for (let at = 0; at < length; at++) drawn[at] = byte()
    return drawn
  }
  return {
    take: () => [place],
    restore: ([at = 0]) => void (place = at),
    bytes,
    next: () => Buffer.from(bytes(4)).readUInt32BE() / 2 ** 32,
  }
}

/** Bytes of a SHA-256. */
const SHA256_BYTES = 32
