import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClientTests } from '../programs/clients/client-tests.js'
import { INSTALLATION } from '../programs/clients/served.js'

const run = promisify(execFile)

/** Milliseconds that the scenario may take without the start of the lab, on a computer that counts as fast as this. */
const MAX_SCENARIO_TIME = 2000
/** Other programs of the host only ever add to a measurement: the smallest counts. */
const MAX_RUNS = 8
const COUNTING = { program: 'for (let i = 0, x = 0; i < 3e8; i++) x += i % 7', milliseconds: 1400 }

let clients: ClientTests
beforeAll(async () => {
  clients = await ClientTests.prepare()
}, INSTALLATION)
afterAll(() => clients[Symbol.asyncDispose]())

/** Milliseconds that a program takes with all that it has started. */
interface Times {
  elapsed: number
  /** Time of processors, which is longer than the elapsed time where two work at once. */
  processor: number
}

async function timesOf(...argv: string[]): Promise<Times> {
  const timed = ['-c', 'TIMEFORMAT="%R %U %S"; { time "$@" > /dev/null 2>&1; } 2>&1', 'timed', ...argv]
  const { stdout } = await run('bash', timed, { env: clients.variables })
  const [elapsed, user, system] = stdout
    .trim()
    .split(' ')
    .map((seconds) => Number(seconds) * 1000)
  return { elapsed: elapsed!, processor: user! + system! }
}

/**
 * Time of a scenario without that of a test which starts a lab too and makes some calls, as it were on a computer that
 * counts as fast as that of {@link COUNTING}: the best of {@link MAX_RUNS}. Other programs lengthen the elapsed time, so
 * the time of processors counts where it is shorter.
 */
async function timeOf(scenario: string[], start: string[]): Promise<number> {
  let best = Infinity
  for (let runs = 0; runs < MAX_RUNS && best >= MAX_SCENARIO_TIME; runs++) {
    const counting = await timesOf(process.execPath, '-e', COUNTING.program)
    const all = await timesOf(...scenario)
    const started = await timesOf(...start)
    const took = Math.min(all.elapsed - started.elapsed, all.processor - started.processor)
    best = Math.min(best, took / Math.max(1, counting.processor / COUNTING.milliseconds))
  }
  return best
}

describe('a test sees half an hour pass in two seconds', () => {
  test('in Go', async () => {
    const only = (name: string) => clients.go(`-test.run=^${name}$`)
    const took = await timeOf(only('TestDeploymentFailsWhereTheAgentIsSilent'), only('TestRefusals'))
    expect(took).toBeLessThan(MAX_SCENARIO_TIME)
    expect(took).toBeGreaterThan(0)
  })

  test('in Python', async () => {
    const took = await timeOf(clients.pytest('-k', 'agent_is_silent'), clients.pytest('-k', 'refusals'))
    expect(took).toBeLessThan(MAX_SCENARIO_TIME)
    expect(took).toBeGreaterThan(0)
  })
})
