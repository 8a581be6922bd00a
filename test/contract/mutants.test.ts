import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFECTS } from '../soak/chaos/defects.js'
import { MUTANTS } from '../soak/mutation-tests/table.js'

// The soak plants them; it takes minutes, and is run seldom.
test.each([...MUTANTS, ...DEFECTS].map(({ file, from, does }) => [does, file, from] as const))(
  'the defect can be planted: %s',
  (_, file, from) => {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    expect(source.split(from), `${file} has the text once`).toHaveLength(2)
  },
)
