import { createHash } from 'node:crypto'
import { keyedRandom, systemRandom, type Random, type SeededRandom } from '../../base/runtime/index.js'

/** The random sequences of a stage, whose positions can be stored in a snapshot. */
export interface Randomness {
  /** Sequence for calls that change something. */
  readonly main: SeededRandom
  /** Sequence for request ids of calls that only read, so that a further read changes no later id. */
  readonly reads: SeededRandom
  /** Sequence for answers to malformed requests, which a lab does not repeat. */
  readonly refusals: SeededRandom
}

/** @param random decides all of them; default: the host's, which cannot be foreseen */
export function randomnessOf(random: Random = systemRandom): Randomness {
  const main = 'take' in random ? (random as SeededRandom) : keyedRandom(random.bytes(32))
  const seed = 'take' in random ? JSON.stringify(main.take()) : Buffer.from(random.bytes(32)).toString('hex')
  const apart = (name: string): SeededRandom => keyedRandom(createHash('sha256').update(`${name} of ${seed}`).digest())
  return { main, reads: apart('reads'), refusals: apart('refusals') }
}
