import { randomBytes } from 'node:crypto'
import type { Random } from './random.js'

/** Randomness fit for tokens. */
export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  next: () => randomBytes(4).readUInt32BE() / 2 ** 32,
}
