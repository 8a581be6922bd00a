import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deployAt, speeds } from '../kit/commands/deploy-process.js'

const DEPLOYMENTS = Number(process.env['SOAK_DEPLOYMENTS'] ?? 20)

/** So many run beside each other, since most of each is waiting. */
const PARALLEL_SPEED_RUNS = 4

/** For the whole way at wall speed, with machines that take their time. */
const WALL_SPEED_TIMEOUT = 3_600_000

/** Keeps every core of this machine busy meanwhile. */
let load: Worker[]
beforeAll(() => {
  load = Array.from({ length: availableParallelism() }, () => new Worker('for (;;);', { eval: true }))
})
afterAll(async () => {
  await Promise.all(load.map((worker) => worker.terminate()))
})

test.each(speeds([60, 200, 600, 1200]))(
  `${DEPLOYMENTS} of ${DEPLOYMENTS} deployments succeed at speed $speed (realistic: $realistic, state folder: $stateDir)`,
  async (speed) => {
    const failed: string[] = []
    let begun = 0
    const some = async () => {
      while (begun++ < DEPLOYMENTS) {
        const { code, output } = await deployAt(speed, WALL_SPEED_TIMEOUT)
        if (code !== 0) failed.push(output)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL_SPEED_RUNS }, some))
    expect(failed).toEqual([])
  },
  2 * WALL_SPEED_TIMEOUT,
)

test(
  `${DEPLOYMENTS} deployments at wall speed succeed, all at once`,
  async () => {
    const runs = await Promise.all(
      speeds([1]).flatMap((speed) =>
        Array.from({ length: Math.ceil(DEPLOYMENTS / 4) }, () => deployAt(speed, WALL_SPEED_TIMEOUT)),
      ),
    )
    expect(runs.filter(({ code }) => code !== 0)).toEqual([])
  },
  2 * WALL_SPEED_TIMEOUT,
)
