import { XZ_TRUNCATED } from './xz-coder.js'
import { DecodeError, TRAILING_DATA } from './decode-error.js'

/** coreos-installer 0.27.0 lets liblzma decode into so many bytes at a time (io/xz.rs). */
const ONE_CALL = 32 * 1024

/**
 * Decoded bytes without those that coreos-installer loses when xz data are damaged: what the failing call of its decoder
 * had decoded never reaches the disk. At most one call's worth is lost there; here it is always that much, so that no byte
 * is written that the real one would not write. A stream that ends too early, or with something behind it, loses nothing.
 */
export async function* withoutLostTail(
  decoded: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const held: Uint8Array[] = []
  let size = 0
  try {
    for await (const bytes of decoded) {
      held.push(bytes)
      size += bytes.length
      while (size - held[0]!.length >= ONE_CALL) {
        size -= held[0]!.length
        yield held.shift()!
      }
    }
  } catch (error) {
    const damaged = error instanceof DecodeError && ![XZ_TRUNCATED, TRAILING_DATA].includes(error.message)
    yield* damaged ? before(held, size - ONE_CALL) : held
    throw error
  }
  yield* held
}

/** The first bytes of several pieces. */
function* before(pieces: readonly Uint8Array[], length: number): Generator<Uint8Array> {
  for (const piece of pieces) {
    if (length <= 0) return
    yield piece.subarray(0, length)
    length -= piece.length
  }
}
