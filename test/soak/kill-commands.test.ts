import { expect, test } from 'vitest'
import { seededRandom } from '../../base/runtime/index.js'
import { killAtRandom, rehearsed } from '../kit/command-kills/kill-at-random.js'

/** Commands are ended at random moments, by SIGTERM and SIGKILL: what stays behind when the next one has run. */

const KILLS = Number(process.env['SOAK_KILLS'] ?? 500)
const SEED = Number(process.env['SOAK_SEED'] ?? 7)
/** Grounds in which commands are killed at the same time. */
const GROUNDS = 3

test(`${KILLS} kills over all commands leave no process, loop device, mount or temporary file`, async () => {
  const durations = await rehearsed()
  const killing = await Promise.allSettled(
    Array.from({ length: GROUNDS }, (_, ground) =>
      killAtRandom({
        count: Math.ceil(KILLS / GROUNDS),
        random: seededRandom(SEED * GROUNDS + ground),
        durations,
        // A look runs commands of its own; what a kill left is found as well a few kills later.
        together: 5,
      }),
    ),
  )
  expect(killing.filter(({ status }) => status === 'rejected')).toEqual([])
}, 7_200_000)
