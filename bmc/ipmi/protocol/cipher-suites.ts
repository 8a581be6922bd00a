import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'

/** A cipher suite of RMCP+; IPMI 2.0, table 22-20, and its addenda for SHA-256. */
export interface CipherSuite {
  readonly id: number
  /** RAKP-HMAC-SHA1 1, RAKP-HMAC-SHA256 3. */
  readonly authentication: number
  /** HMAC-SHA1-96 1, HMAC-SHA256-128 4. */
  readonly integrity: number
  /** AES-CBC-128 1. */
  readonly confidentiality: number
  readonly hash: 'sha1' | 'sha256'
  /** Bytes of an authentication code, which is cut. */
  readonly codeLength: number
}

/** The suites that BMCs can offer, the better one last. */
export const CIPHER_SUITES: readonly CipherSuite[] = [
  { id: 3, authentication: 1, integrity: 1, confidentiality: 1, hash: 'sha1', codeLength: 12 },
  { id: 17, authentication: 3, integrity: 4, confidentiality: 1, hash: 'sha256', codeLength: 16 },
]

/** Suites by their numbers, the better one last. */
export const suitesOf = (ids: readonly number[]): readonly CipherSuite[] =>
  CIPHER_SUITES.filter(({ id }) => ids.includes(id))

export const computeHmac = ({ hash }: CipherSuite, key: Buffer, ...parts: readonly Buffer[]): Buffer => {
  const made = createHmac(hash, key)
  for (const part of parts) made.update(part)
  return made.digest()
}

/** True if two codes are the same, found out in a time that says nothing about them. */
export const sameCode = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other)

const AES_BLOCK_BYTES = 16

/** Encrypts a payload; IPMI 2.0, 13.29. */
export function encryptPayload(key: Buffer, iv: Buffer, payload: Buffer): Buffer {
  const pad = AES_BLOCK_BYTES - 1 - (payload.length % AES_BLOCK_BYTES)
  const trailer = Buffer.from([...Array.from({ length: pad }, (_, index) => index + 1), pad])
  const cipher = createCipheriv('aes-128-cbc', key, iv).setAutoPadding(false)
  return Buffer.concat([iv, cipher.update(payload), cipher.update(trailer), cipher.final()])
}

/** Decrypts a payload; undefined for a damaged one. */
export function decryptPayload(key: Buffer, payload: Buffer): Buffer | undefined {
  if (payload.length < 2 * AES_BLOCK_BYTES || payload.length % AES_BLOCK_BYTES !== 0) return undefined
  const cipher = createDecipheriv('aes-128-cbc', key, payload.subarray(0, AES_BLOCK_BYTES)).setAutoPadding(false)
  const plain = Buffer.concat([cipher.update(payload.subarray(AES_BLOCK_BYTES)), cipher.final()])
  const pad = plain.at(-1)!
  return pad < AES_BLOCK_BYTES ? plain.subarray(0, plain.length - 1 - pad) : undefined
}
