import { expect, test } from 'vitest'
import { seededRandom } from '../../base/runtime/index.js'
import { labOfTests } from '../real/lab/lab-of-tests.js'

/** `ironstage run` over six real hosts is killed at one random moment, and goes on: each time from the beginning. Needs root. */

const KILLS = Number(process.env['SOAK_KILLS'] ?? 30)
const SEED = Number(process.env['SOAK_SEED'] ?? 7)
/** Milliseconds after which the last host of an undisturbed run has ended, or only waits. */
const UNDISTURBED_RUN_TIMEOUT = 40_000

const labOf = labOfTests()

test(`${KILLS} runs that are killed at a random moment end as one that is not`, async () => {
  const lab = labOf()
  const random = seededRandom(SEED)
  for (let n = 0; n < KILLS; n++) {
    await lab.reset()
    const before = await lab.digests()
    const after = random.next() * UNDISTURBED_RUN_TIMEOUT
    using _ = lab.troubles()
    if (await lab.killedAfter(after))
      expect({ n, after, code: await lab.goesOn() }, lab.stderr).toEqual({ n, after, code: 1 })
    lab.expectEnds()
    expect(await lab.digests(), `kill ${n} after ${after} ms`).toEqual(before)
  }
}, 7_200_000)
