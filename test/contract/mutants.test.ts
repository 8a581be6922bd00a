import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fidelityRows } from '../kit/fidelity/fidelity-rows.js'
import { DEFECTS } from '../soak/chaos/defects.js'
import { DESIGN_MUTANTS, FIDELITY_MUTANTS } from '../soak/mutation-tests/table.js'

// The soak plants them; it takes minutes, and is run seldom.
test.each(
  [...DESIGN_MUTANTS, ...FIDELITY_MUTANTS, ...DEFECTS].map(({ file, from, does }) => [does, file, from] as const),
)('the defect can be planted: %s', (_, file, from) => {
  const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  expect(source.split(from), `${file} has the text once`).toHaveLength(2)
})

/** Rows that no edit of one place turns to upstream's. Tests of real programs are run by `test:real` alone. */
const WITHOUT_MUTANT = [
  // Nothing here ties a pod to its node.
  'A control-plane node that reboots takes its pods',
  // Its test starts the command as it is built.
  "An exception in a conductor's worker",
]

test('every row of fidelity has a mutant', () => {
  const begun = [...FIDELITY_MUTANTS.map(({ row }) => row), ...WITHOUT_MUTANT]
  const rows = fidelityRows().filter(({ test: { file } }) => !file.startsWith('test/real/'))
  const bare = rows.filter(({ upstream }) => !begun.some((beginning) => upstream.startsWith(beginning)))
  expect(bare.map(({ upstream }) => upstream)).toEqual([])
})
