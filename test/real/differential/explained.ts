import type { Difference } from './compare.js'

/** A difference that is meant: which calls, where in the answer, and the row of docs/fidelity.md that says so. */
export interface Explanation {
  readonly row: string
  readonly applies: (difference: Difference) => boolean
}

/** Each must still be needed: one that explains nothing fails the suite. */
export const EXPLAINED: readonly Explanation[] = []
