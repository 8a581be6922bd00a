import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FIDELITY_ROWS } from '../kit/fidelity-rows.js'
import { DEFECTS } from '../soak/chaos/defects.js'
import { DESIGN_MUTANTS, FIDELITY_MUTANTS } from '../soak/mutation-tests/table.js'

// The soak plants them; it takes minutes, and is run seldom.
test.each(
  [...DESIGN_MUTANTS, ...FIDELITY_MUTANTS, ...DEFECTS].map(({ file, from, does }) => [does, file, from] as const),
)('the defect can be planted: %s', (_, file, from) => {
  const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  expect(source.split(from), `${file} has the text once`).toHaveLength(2)
})

test('a hundred rows of docs/fidelity.md have a mutant, and every section has some', () => {
  const begun = [...new Set(FIDELITY_MUTANTS.map(({ row }) => row))]
  const rows = FIDELITY_ROWS.filter(({ upstream }) => begun.some((beginning) => upstream.startsWith(beginning)))
  expect(rows.length).toBeGreaterThanOrEqual(100)
  expect(new Set(rows.map(({ section }) => section))).toEqual(new Set(FIDELITY_ROWS.map(({ section }) => section)))
})
