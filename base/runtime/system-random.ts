import { randomFillSync } from 'node:crypto'
import type { Random } from './random.js'

/** Bytes that are drawn at once: a draw for each request id would take longer than the rest of the id. */
const DRAWN = 4096
const drawn = Buffer.alloc(DRAWN)
let used = DRAWN

/** Bytes that no other caller gets. */
function bytes(length: number): Uint8Array {
  if (length > DRAWN) return randomFillSync(Buffer.alloc(length))
  if (used + length > DRAWN) {
    randomFillSync(drawn)
    used = 0
  }
  const copy = Buffer.from(drawn.subarray(used, used + length))
  // The copy may be a token: no second one stays in this buffer.
  drawn.fill(0, used, (used += length))
  return copy
}

/** Randomness fit for tokens. */
export const systemRandom: Random = {
  bytes,
  next: () => Buffer.from(bytes(4)).readUInt32BE() / 2 ** 32,
}
