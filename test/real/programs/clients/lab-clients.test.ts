import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocks } from '../../../kit/guides/guide.js'
import { goPeer } from '../../go-peer.js'
import { succeeds, tool } from '../../peers.js'
import { bareEnvironment, openstackClients } from './baremetal.js'
import { INSTALLATION } from './served.js'

const run = promisify(execFile)

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const ROOT = at('../../../..')
const GO = join(ROOT, 'clients/go')
const PYTHON = join(ROOT, 'clients/python')

/** The clients start the built command in a process of its own. */
const VARIABLES = { ...bareEnvironment(), IRONSTAGE: join(ROOT, 'dist/bundle/ironstage.js') }

/** Milliseconds that the scenario may take without the start of the lab, on a computer that counts as fast as this. */
const MAX_SCENARIO_TIME = 2000
/** Other programs of the host only ever add to a measurement, by up to a half: the smallest counts. */
const MAX_RUNS = 8
const COUNTING = { program: 'for (let i = 0, x = 0; i < 3e8; i++) x += i % 7', milliseconds: 1400 }

/** Milliseconds of processor time of a program and of all that it has started: lanes share the processors. */
async function processorTime(...argv: string[]): Promise<number> {
  const timed = ['-c', 'TIMEFORMAT="%U %S"; { time "$@" > /dev/null 2>&1; } 2>&1', 'timed', ...argv]
  const { stdout } = await run('bash', timed, { env: { ...VARIABLES, HOME: home } })
  const [user, system] = stdout.trim().split(' ').map(Number)
  return (user! + system!) * 1000
}

/**
 * Time of a scenario without that of a test which starts a lab too and makes some calls, as it were on a computer that
 * counts as fast as that of {@link COUNTING}: the best of three.
 */
async function timeOf(scenario: string[], start: string[]): Promise<number> {
  let best = Infinity
  for (let runs = 0; runs < MAX_RUNS && best >= MAX_SCENARIO_TIME; runs++) {
    const slowness = (await processorTime(process.execPath, '-e', COUNTING.program)) / COUNTING.milliseconds
    const took = (await processorTime(...scenario)) - (await processorTime(...start))
    best = Math.min(best, took / Math.max(1, slowness))
  }
  return best
}

let home: string
let goTests: string
let venv: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ironstage-lab-clients-'))
  // Puts the tests of docs/clients.md beside the others.
  for (const language of ['go', 'python'])
    await cp(at(`./lab-clients/${language}`), join(home, language), { recursive: true })
  for (const { language, name, text } of blocks('docs/clients.md'))
    if (name) await writeFile(join(home, language, name), text)
  goTests = await goPeer(join(home, 'go'), { tests: true, modules: { ironstage: GO } })
  venv = await openstackClients()
}, INSTALLATION)
afterAll(() => rm(home, { recursive: true, force: true }))

describe('the Go package', () => {
  const tests = async (...argv: string[]): Promise<string> =>
    (await run(goTests, ['-test.v', '-test.timeout=5m', ...argv], { env: { ...VARIABLES, HOME: home } })).stdout

  test('passes its tests with gophercloud', async () => {
    const outcomes = [...(await tests()).matchAll(/^--- (\w+): (\w+)/gm)].map(([, outcome, name]) => [name, outcome])
    expect(Object.fromEntries(outcomes)).toEqual({
      TestDeploymentFailsWhereTheAgentIsSilent: 'PASS',
      TestSnapshots: 'PASS',
      TestRefusals: 'PASS',
      TestStartThatFails: 'PASS',
      TestHelperPanics: 'SKIP',
      TestLabEndsWithItsProcess: 'PASS',
      TestHalfAnHourTakesNoTime: 'PASS',
    })
  })

  test('sees half an hour pass in two seconds', async () => {
    const only = (name: string) => [goTests, `-test.run=^${name}$`]
    const took = await timeOf(only('TestDeploymentFailsWhereTheAgentIsSilent'), only('TestRefusals'))
    expect(took).toBeLessThan(MAX_SCENARIO_TIME)
    expect(took).toBeGreaterThan(0)
  })

  test('is as gofmt writes it', async () => {
    expect(await succeeds('gofmt', '-l', GO, join(home, 'go'))).toBe('')
  })
})

describe('the Python package', () => {
  const pytest = (...argv: string[]) =>
    [
      ...(['env', '-i', '-C', home, ...Object.entries(VARIABLES).map(([name, value]) => `${name}=${value}`)] as const),
      `PYTHONPATH=${PYTHON}`,
      'PYTHONDONTWRITEBYTECODE=1',
      join(venv, 'bin/python'),
      '-W',
      'error::ResourceWarning',
      '-m',
      'pytest',
      '-p',
      'no:cacheprovider',
      // An installed package brings its plugin by itself.
      '-p',
      'ironstage._pytest_plugin',
      '-q',
      join(home, 'python'),
      ...argv,
    ] as [string, ...string[]]

  test('passes its tests with openstacksdk', async () => {
    const { code, stdout, stderr } = await tool(...pytest())
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^8 passed/m)
  })

  test('sees half an hour pass in two seconds', async () => {
    const took = await timeOf(pytest('-k', 'agent_is_silent'), pytest('-k', 'refusals'))
    expect(took).toBeLessThan(MAX_SCENARIO_TIME)
    expect(took).toBeGreaterThan(0)
  })
})
