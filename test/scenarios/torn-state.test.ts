import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyFiles, makeStateModels, runCase, startOn, type StateModels } from '../kit/torn-state/state-contents.js'

/** The soak has 2,000 (`test/soak/torn-state.test.ts`). */
const CASES = 200

let models: StateModels
beforeAll(async () => {
  models = await makeStateModels()
})
afterAll(() => models[Symbol.asyncDispose]())

test('a folder of a killed process, and one of a stopped process, has all that was acknowledged', async () => {
  for (const { later } of [models.killed, models.stopped]) {
    // A start changes the folder, also a moment after its end, and the other cases begin with it.
    const started = `${later}-started`
    await copyFiles(later, started)
    expect(await startOn(started)).toEqual({ found: models.acknowledged })
  }
})

test(
  `${CASES} folders with one damaged file start as acknowledged, or are refused and can be repaired`,
  { timeout: 600_000 },
  async () => {
    const outcomes = new Set<string>()
    for (let seed = 1; seed <= CASES; seed++) outcomes.add((await runCase(models, seed, seed % 10 === 0)).outcome)
    expect([...outcomes].sort()).toEqual(['as acknowledged', 'refused'])
  },
)
