/** A change of the sources that takes a behaviour away. */
export interface Mutation {
  /** Without the behaviour. */
  does: string
  file: string
  /** Text that is there once. */
  from: string
  to: string
  /** True if the test then waits for what never comes, so that its time limit is what notices. */
  hangs?: boolean
}

/** A change of the sources, and the test that must notice. */
export interface Mutant extends Mutation {
  /** The row of a document that the behaviour belongs to. Of `docs/design-coverage.md`: document and the beginning of its statement. */
  row: string
  test: string
  title: string
}
