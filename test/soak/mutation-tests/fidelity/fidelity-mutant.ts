import { fidelitySubjects } from '../../../kit/fidelity/fidelity-rows.js'
import type { Mutant, Mutation } from '../mutant.js'

/** A change that turns a behaviour to upstream's, or else takes ours away: the test that the row names must notice. */
interface FidelityMutation extends Mutation {
  /** Beginning of what one row of the subject says of upstream, or all of it. */
  row: string
}

const subjects = fidelitySubjects()

/** The mutants of `docs/fidelity/SUBJECT.yaml`, each with the test that its row names. */
export const fidelityMutants = (subject: string, mutations: readonly FidelityMutation[]): Mutant[] =>
  mutations.map((mutation) => {
    const { file: test, title } = shownBy(subject, mutation.row)
    return { ...mutation, test, title }
  })

function shownBy(subject: string, row: string): { file: string; title: string } {
  const { rows: all } = subjects.get(subject)!
  const whole = all.filter(({ upstream }) => upstream === row)
  const rows = whole.length > 0 ? whole : all.filter(({ upstream }) => upstream.startsWith(row))
  if (rows.length !== 1) throw new Error(`"${row}" begins ${rows.length} rows of docs/fidelity/${subject}.yaml`)
  return rows[0]!.test
}
