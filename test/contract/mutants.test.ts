import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fidelitySubjects } from '../kit/fidelity/fidelity-rows.js'
import { DEFECTS } from '../soak/chaos/defects.js'
import { DESIGN_MUTANTS, FIDELITY_MUTANTS } from '../soak/mutation-tests/table.js'

// The soak plants them; it takes minutes, and is run seldom.
test.each(
  [...DESIGN_MUTANTS, ...FIDELITY_MUTANTS, ...DEFECTS].map(({ file, from, does }) => [does, file, from] as const),
)('the defect can be planted: %s', (_, file, from) => {
  const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  expect(source.split(from), `${file} has the text once`).toHaveLength(2)
})

test('a hundred rows of fidelity have a mutant, and every subject has some', () => {
  const begun = [...new Set(FIDELITY_MUTANTS.map(({ row }) => row))]
  const subjects = [...fidelitySubjects()].map(([name, { rows }]) => ({
    name,
    covered: rows.filter(({ upstream }) => begun.some((beginning) => upstream.startsWith(beginning))).length,
  }))
  expect(subjects.filter(({ covered }) => covered === 0)).toEqual([])
  expect(subjects.reduce((sum, { covered }) => sum + covered, 0)).toBeGreaterThanOrEqual(100)
})
