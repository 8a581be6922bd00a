/** The unit in which long writes are looked at for zeros. */
const RUN = 64 * 1024
const ZERO_RUN = Buffer.alloc(RUN)

/** A view, not a copy. */
export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export function isZero(bytes: Uint8Array): boolean {
  const buffer = bufferOf(bytes)
  for (let at = 0; at < buffer.length; at += RUN) {
    const length = Math.min(RUN, buffer.length - at)
    if (buffer.compare(ZERO_RUN, 0, length, at, at + length) !== 0) return false
  }
  return true
}

/**
 * Splits bytes that go to `offset` into runs that are all zero and runs that are not, cut at multiples of 64 KiB of the
 * disk. Neighbours of one kind come as one run.
 */
export function* zeroRuns(
  offset: number,
  bytes: Uint8Array,
): Generator<{ offset: number; bytes: Uint8Array; zero: boolean }> {
  let start = 0
  let zero: boolean | undefined
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + RUN - ((offset + at) % RUN))
    const isNext = isZero(bytes.subarray(at, end))
    if (zero !== undefined && zero !== isNext) {
      yield { offset: offset + start, bytes: bytes.subarray(start, at), zero }
      start = at
    }
    zero = isNext
    at = end
  }
  if (zero !== undefined) yield { offset: offset + start, bytes: bytes.subarray(start), zero }
}
