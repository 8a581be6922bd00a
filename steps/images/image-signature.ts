import { defined, withClockHeld, importPackage, UserError, type Clock } from '../../base/runtime/index.js'
import { SIGNING_KEYS } from './signing-keys.js'

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
  const { createMessage, readKeys, readSignature, verify } = await importPackage('openpgp', () => import('openpgp'))
  const bad = (why: string, cause?: unknown) =>
    new UserError('image-signature', `the signature of ${shownUrl} is not accepted: ${why}`, {
      ...defined({ cause }),
      remedy: 'take the image from a trusted source, or trust the key that it is signed with',
    })
  const armoured = Buffer.from(signature.subarray(0, 64)).toString('latin1').trimStart().startsWith('-----BEGIN')
  const parsed = await (
    armoured
      ? readSignature({ armoredSignature: Buffer.from(signature).toString('latin1') })
      : readSignature({ binarySignature: signature })
  ).catch((error: unknown) => {
    throw bad('it cannot be read', error)
  })
  const keys = []
  for (const armoredKeys of [...SIGNING_KEYS, ...trusted])
    keys.push(
      ...(await readKeys({ armoredKeys }).catch((cause: unknown) => {
        throw new UserError('signing-key', 'a key to check signatures with cannot be read', { cause, kind: 'usage' })
      })),
    )
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const verdict = (async (): Promise<Signed> => {
    const message = await createMessage({ binary: readable })
    const { data, signatures } = await verify({
      message,
      signature: parsed,
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
    throw bad(
      signatures.length === 0 ? 'there is none in it' : `by key ${signatures[0]!.keyID.toHex().toUpperCase()}`,
      why,
    )
  })()
  verdict.catch(() => {})
  return {
    // After an early verdict the rest is not read, so do not wait for the write.
    update: (bytes) =>
      withClockHeld(clock, 'checking a signature', () => Promise.race([writer.write(bytes), settlePromise(verdict)])),
    finish: () =>
      withClockHeld(clock, 'checking a signature', async () => {
        writer.close().catch(() => {})
        return verdict
      }),
    cancel: async () => {
      await writer.abort(new Error('no longer wanted')).catch(() => {})
    },
  }
}

const settlePromise = (promise: Promise<unknown>): Promise<void> =>
  promise.then(
    () => {},
    () => {},
  )
