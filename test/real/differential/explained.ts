import type { Difference } from './compare.js'

/** A difference that is meant: which calls, where in the answer, and the row of docs/fidelity.md that says so. */
export interface Explanation {
  /** The row's first cell, as it is written there. */
  readonly row: string
  readonly applies: (difference: Difference) => boolean
}

/** Each must still be needed, and told: one that explains nothing, or whose row is gone, fails the suite. */
export const EXPLAINED: readonly Explanation[] = [
  {
    row: 'Anything unforeseen is a 500',
    applies: ({ at, real, ours }) => at === 'status' && statusOf(real) >= 500 && statusOf(ours) < 500,
  },
  {
    row: "A body that is not JSON: 500 with the words of Python's parser",
    applies: ({ at, ours }) =>
      /faultstring$|^status$/.test(at) && /The request body is not valid JSON/.test(JSON.stringify(ours)),
  },
  {
    row: 'Links and `next` of inspection rules lead to `/v1/inspection`, where nothing is',
    applies: ({ at, real, ours }) =>
      /\.(href|next)$/.test(at) && /\/inspection\b/.test(String(real)) && /\/inspection_rules\b/.test(String(ours)),
  },
  {
    row: 'Invalid steps are refused quoting the whole JSON schema',
    applies: ({ at, real }) => at.endsWith('faultstring') && /\n\nFailed validating .* in schema/.test(String(real)),
  },
]

const statusOf = (brief: unknown): number => (brief as readonly [number])[0]
