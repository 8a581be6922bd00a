import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mutants, originals } from '../kit/damaged-images/corpus.js'
import { trials } from '../kit/damaged-images/trial.js'

/** Whole deployments of such images are in test/real/programs/mutated-images.test.ts, which also measures time and memory. */
const COUNT = 60

let folder: string
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'ironstage-mutated-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

test(`${COUNT} damaged images of all formats end in a sentence`, { timeout: 300_000 }, async () => {
  await using tried = await trials(await originals(), folder, { deployments: false })
  const defects = []
  let refused = 0
  for (const mutant of mutants(0, COUNT)) {
    const trial = await tried.run(mutant)
    if (trial.defect !== undefined) defects.push(trial)
    if (trial.ended !== '0') refused++
  }
  expect(defects).toEqual([])
  // Most damage matters, and not everything is refused.
  expect(refused).toBeGreaterThan(COUNT / 3)
  expect(refused).toBeLessThan(COUNT)
})
