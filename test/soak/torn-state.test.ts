import { expect, test } from 'vitest'
import { makeStateModels, runCase } from '../kit/torn-state/state-contents.js'

const CASES = Number(process.env['STATE_CASES'] ?? 2_000)
/** After those of `npm test`. A failure names its seed. */
const FIRST_SEED = Number(process.env['SOAK_SEED'] ?? 1_000)

test(`${CASES} state folders with one damaged file, from seed ${FIRST_SEED}`, async () => {
  await using models = await makeStateModels()
  const counts = { 'as acknowledged': 0, refused: 0 }
  for (let seed = FIRST_SEED; seed < FIRST_SEED + CASES; seed++) {
    const { outcome } = await runCase(models, seed, true)
    counts[outcome]++
  }
  expect(counts['as acknowledged']).toBeGreaterThan(CASES / 10)
  expect(counts.refused).toBeGreaterThan(CASES / 10)
})
