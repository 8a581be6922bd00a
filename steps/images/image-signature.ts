import type * as openpgpModule from 'openpgp'
import type { Key, Signature } from 'openpgp'
import { defined, withClockHeld, importPackage, UserError, type Clock } from '../../base/runtime/index.js'
import { SIGNING_KEYS } from './signing-keys.js'

type OpenPgp = typeof openpgpModule

/** Signer of an image. */
export interface Signed {
  by: string
  /** Upper-case hex. */
  fingerprint: string
}

/** Verifies an image piece by piece. */
export interface SignatureCheck {
  update(bytes: Uint8Array): Promise<void>
  /** @throws UserError (image-signature) when the signature is wrong, or not by a trusted key */
  finish(): Promise<Signed>
  /** Ends it without a verdict. */
  cancel(): Promise<void>
}

/**
 * Begins the check of a detached OpenPGP signature, armoured or binary.
 *
 * @param trusted armoured keys besides those that coreos-installer trusts
 * @throws UserError (image-signature) when the signature cannot be read
 */
export async function checkSignature(
  signature: Uint8Array,
  trusted: readonly string[],
  shownUrl: string,
  clock: Clock,
): Promise<SignatureCheck> {
  // Loaded on first use: the library is large, and most images have no signature.
  const openpgp = await importPackage('openpgp', () => import('openpgp'))
  const parsed = await parseSignature(openpgp, signature, shownUrl)
  const keys = await readTrustedKeys(openpgp, trusted)
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const image = writable.getWriter()
  const signer = findSigner(openpgp, readable, parsed, keys, shownUrl)
  return new StreamedSignatureCheck(image, signer, clock)
}

function parseSignature(openpgp: OpenPgp, signature: Uint8Array, shownUrl: string): Promise<Signature> {
  const start = Buffer.from(signature.subarray(0, 64)).toString('latin1')
  const parsed = start.trimStart().startsWith('-----BEGIN')
    ? openpgp.readSignature({ armoredSignature: Buffer.from(signature).toString('latin1') })
    : openpgp.readSignature({ binarySignature: signature })
  return parsed.catch((error: unknown) => {
    throw signatureError(shownUrl, 'it cannot be read', error)
  })
}

/** Keys that coreos-installer trusts, and then the given ones. */
async function readTrustedKeys(openpgp: OpenPgp, trusted: readonly string[]): Promise<Key[]> {
  const keys: Key[] = []
  for (const armoredKeys of [...SIGNING_KEYS, ...trusted]) {
    const read = await openpgp.readKeys({ armoredKeys }).catch((cause: unknown) => {
      throw new UserError('signing-key', 'a key to check signatures with cannot be read', { cause, kind: 'usage' })
    })
    keys.push(...read)
  }
  return keys
}

/**
 * Reads an image to its end.
 *
 * @throws UserError (image-signature) when no trusted key has signed it
 */
async function findSigner(
  openpgp: OpenPgp,
  image: ReadableStream<Uint8Array>,
  signature: Signature,
  keys: Key[],
  shownUrl: string,
): Promise<Signed> {
  const message = await openpgp.createMessage({ binary: image })
  const { data, signatures } = await openpgp.verify({
    message,
    signature,
    verificationKeys: keys,
    format: 'binary',
    // No date: images are installed after their key has expired, and a lab's clock may show any time.
    date: null,
  })
  // Read `data` to its end, since the library verifies a copy of it. It patches the stream's reader, not its iterator.
  const reader = (data as unknown as ReadableStream<Uint8Array>).getReader()
  while (!(await reader.read()).done);
  let why: unknown
  for (const one of signatures)
    try {
      await one.verified
      const key = keys.find((candidate) => candidate.getKeyIDs().some((id) => id.equals(one.keyID)))
      if (key) return { by: key.getUserIDs()[0] ?? '', fingerprint: key.getFingerprint().toUpperCase() }
    } catch (error) {
      why = error
    }
  const [first] = signatures
  throw signatureError(
    shownUrl,
    first ? `by key ${first.keyID.toHex().toUpperCase()}` : 'it contains no signature',
    why,
  )
}

/** Hands the pieces of an image on to a verdict under way. */
class StreamedSignatureCheck implements SignatureCheck {
  readonly #image: WritableStreamDefaultWriter<Uint8Array>
  readonly #verdict: Promise<Signed>
  readonly #clock: Clock

  constructor(image: WritableStreamDefaultWriter<Uint8Array>, verdict: Promise<Signed>, clock: Clock) {
    this.#image = image
    this.#verdict = verdict
    this.#clock = clock
    // It may fail before `finish` waits for it.
    verdict.catch(() => {})
  }

  update(bytes: Uint8Array): Promise<void> {
    // After an early verdict the rest is not read, so do not wait for the write.
    return withClockHeld(this.#clock, 'checking a signature', () =>
      Promise.race([this.#image.write(bytes), settlePromise(this.#verdict)]),
    )
  }

  finish(): Promise<Signed> {
    return withClockHeld(this.#clock, 'checking a signature', async () => {
      this.#image.close().catch(() => {})
      return this.#verdict
    })
  }

  async cancel(): Promise<void> {
    await this.#image.abort(new Error('no longer wanted')).catch(() => {})
  }
}

const signatureError = (shownUrl: string, why: string, cause?: unknown): UserError =>
  new UserError('image-signature', `the signature of ${shownUrl} is not accepted: ${why}`, {
    ...defined({ cause }),
    remedy: 'use a trusted source, or trust the key that signed the image',
  })

const settlePromise = (promise: Promise<unknown>): Promise<void> =>
  promise.then(
    () => {},
    () => {},
  )
