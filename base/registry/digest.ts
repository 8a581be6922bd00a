import { createHash } from 'node:crypto'
import type { ByteStream } from '../bytes/index.js'
import { UserError } from '../runtime/index.js'

const DIGEST_LENGTHS: Readonly<Record<string, number>> = { sha256: 64, sha512: 128 }

/** Whether a text is a digest of a registered algorithm (OCI image spec 1.1, descriptor.md). */
export function isDigest(text: string): boolean {
  const [, algorithm = '', hex = ''] = /^(sha256|sha512):([a-f\d]+)$/.exec(text) ?? []
  return hex !== '' && hex.length === DIGEST_LENGTHS[algorithm]
}

export const algorithmOf = (digest: string): string => digest.slice(0, digest.indexOf(':'))

export const blobDigestOf = (bytes: Uint8Array, algorithm = 'sha256'): string =>
  `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`

/** @throws UserError `image-altered` */
export function checkContent(
  bytes: Uint8Array,
  { digest, size }: { digest: string; size?: number },
  what: string,
): void {
  if (size !== undefined && bytes.length !== size) throw otherContent(what, `${bytes.length} bytes, not ${size}`)
  const found = blobDigestOf(bytes, algorithmOf(digest))
  if (found !== digest) throw otherContent(what, `the digest ${found}, not ${digest}`)
}

const otherContent = (what: string, has: string): UserError =>
  new UserError('image-altered', `${what} has ${has}`, { remedy: 'copy the image there again' })

/**
 * A stream that fails at its end when it was not what its descriptor says, and as soon as it is longer.
 *
 * @throws UserError `image-altered`, from `next`
 */
export function verifiedStream(
  stream: ByteStream,
  { digest, size }: { digest: string; size: number },
  what: string,
): ByteStream {
  const hash = createHash(algorithmOf(digest))
  let received = 0
  let done = false
  return {
    length: size,
    next: async () => {
      if (done) return undefined
      const bytes = await stream.next()
      if (bytes) {
        received += bytes.length
        if (received > size) throw otherContent(what, `more than ${size} bytes`)
        hash.update(bytes)
        return bytes
      }
      done = true
      if (received !== size) throw otherContent(what, `${received} bytes, not ${size}`)
      const found = `${algorithmOf(digest)}:${hash.digest('hex')}`
      if (found !== digest) throw otherContent(what, `the digest ${found}, not ${digest}`)
      return undefined
    },
    [Symbol.asyncDispose]: async () => stream[Symbol.asyncDispose](),
  }
}
