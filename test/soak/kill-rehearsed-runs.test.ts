import { expect, test } from 'vitest'
import { seededRandom, randomUniform } from '../../base/runtime/index.js'
import { atStage, goesOnAfterKill, REHEARSED_STAGES } from '../kit/hardware-lab/killed-runs.js'

/** `ironstage run --rehearse` is killed, and goes on in another process. */

const KILLS = Number(process.env['SOAK_KILLS'] ?? 200)
const SEED = Number(process.env['SOAK_SEED'] ?? 7)
/** Hosts of the runs that are killed at random. */
const HOSTS = 6
/** Milliseconds after which an undisturbed run of them has ended. */
const LONGEST = Number(process.env['SOAK_LONGEST'] ?? 6_000)

const random = seededRandom(SEED)

const MOMENTS = REHEARSED_STAGES.flatMap((stage) => [
  { name: `when ${stage} begins`, kill: { after: atStage(stage, 'started') } },
  { name: `in ${stage}`, kill: { after: atStage(stage, 'started'), later: randomUniform(random, 5, 150) } },
  { name: `when ${stage} has ended`, kill: { after: atStage(stage, 'done') } },
])

test.each(MOMENTS)('a rehearsed run that is killed $name goes on', async ({ name, kill }) => {
  expect(await goesOnAfterKill(2, kill, name)).toBe(true)
})

test(`${KILLS} runs of ${HOSTS} hosts that are killed at a random moment go on`, async () => {
  let kills = 0
  for (let n = 0; n < KILLS; n++) {
    const later = Math.round(random.next() * LONGEST)
    if (await goesOnAfterKill(HOSTS, { later }, `kill ${n} after ${later} ms`)) kills++
    if (n % 20 === 19) console.log(`${kills} of ${n + 1} runs were killed before their end`)
  }
  expect(kills).toBeGreaterThan(KILLS / 4)
}, 14_400_000)
