/** A change of the sources that takes a behaviour away, and the test that must notice. */
export interface Mutant {
  /** The row of `docs/design-coverage.md`: document and the beginning of its statement. */
  row: string
  /** Without the behaviour. */
  does: string
  file: string
  /** Text that is there once. */
  from: string
  to: string
  test: string
  title: string
}
