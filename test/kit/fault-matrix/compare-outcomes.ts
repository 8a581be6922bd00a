import { errorKind, passedLimit } from './error-kind.js'
import type { CellOutcome } from './outcome.js'

/** The members of an outcome on which the sides of a cell must agree. */
type ComparedOutcome = Omit<CellOutcome, 'last_error' | 'failure'> & {
  readonly last_error: string | null
  /** The last error in the history, where `last_error` has none. */
  readonly failure: string | null
  /** Option of the time limit that passed. */
  readonly limit: string | null
}

function comparedOutcome(outcome: CellOutcome, other: CellOutcome): ComparedOutcome {
  const error = outcome.last_error ?? outcome.failure
  const haveErrors = outcome.last_error !== null && other.last_error !== null
  return {
    ...outcome,
    last_error: errorKind(outcome.last_error),
    failure: haveErrors ? null : errorKind(error),
    limit: passedLimit(error),
  }
}

/** Members in which two outcomes differ, as `[real, ours]`. */
export type OutcomeDifferences = Readonly<Record<string, readonly [unknown, unknown]>>

/** Compares the outcomes of the two sides of a cell. */
export function outcomeDifferences(real: CellOutcome, ours: CellOutcome): OutcomeDifferences {
  const theirs = comparedOutcome(real, ours)
  const own = comparedOutcome(ours, real)
  const members = Object.keys(own) as (keyof ComparedOutcome)[]
  return Object.fromEntries(
    members.filter((member) => theirs[member] !== own[member]).map((member) => [member, [theirs[member], own[member]]]),
  )
}
