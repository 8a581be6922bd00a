import { FIDELITY_ROWS } from '../../../kit/fidelity-rows.js'
import type { Mutant, Mutation } from '../mutant.js'

/** A change that turns a behaviour to upstream's, or else takes ours away: the test that the row names must notice. */
interface FidelityMutation extends Mutation {
  /** Beginning of the first cell of one row of `docs/fidelity.md`. */
  row: string
}

/** The mutants of a section of `docs/fidelity.md`, each with the test that its row names. */
export const fidelityMutants = (section: string, mutations: readonly FidelityMutation[]): Mutant[] =>
  mutations.map((mutation) => ({ ...mutation, ...shownBy(section, mutation.row) }))

function shownBy(section: string, row: string): { test: string; title: string } {
  const rows = FIDELITY_ROWS.filter((one) => one.section === section && one.upstream.startsWith(row))
  const [{ test, title } = {}] = rows
  if (rows.length !== 1 || test === undefined || title === undefined)
    throw new Error(`"${row}" begins ${rows.length} rows of the section "${section}" of docs/fidelity.md`)
  return { test, title }
}
