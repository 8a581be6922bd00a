import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bareEnvironment, openstackClients } from './baremetal.js'
import { cloud } from './cloud.js'
import { INSTALLATION, served, type ServedIronic } from './served.js'

const run = promisify(execFile)

const RUNNER = fileURLToPath(new URL('./functional.py', import.meta.url))

/** The cloud of each role; ironstage has no roles, every authenticated client may do everything. */
const ROLES = ['SYSTEM_ADMIN_CLOUD', 'OPERATOR_CLOUD', 'DEMO_CLOUD', 'DEMO_CLOUD_ALT']

interface Outcome {
  test: string
  outcome: 'passed' | 'failed' | 'skipped'
  text: string
}

let venv: string
let ironic: ServedIronic
let folder: string
beforeAll(async () => {
  venv = await openstackClients()
  folder = await mkdtemp(join(tmpdir(), 'ironstage-clients-'))
  // As the project's own runs have it: fake hardware with fake interfaces, of which nothing is a machine.
  ironic = await served({ profile: 'upstream' })
}, INSTALLATION)
afterAll(async () => {
  await ironic?.[Symbol.asyncDispose]()
  if (folder) await rm(folder, { recursive: true, force: true })
})

test('all of its own functional tests for bare metal pass', async () => {
  const [python] = await readdir(join(venv, 'lib'))
  const { stdout } = await run(join(venv, 'bin/python'), [RUNNER, join(venv, 'lib', python!, 'site-packages')], {
    env: {
      ...bareEnvironment(),
      ...(await cloud(folder, ironic.url)),
      ...Object.fromEntries(ROLES.map((role) => [`OPENSTACKSDK_${role}`, 'ironstage'])),
      OS_LOG_CAPTURE: '1',
      OS_STDOUT_CAPTURE: '1',
      OS_STDERR_CAPTURE: '1',
      OS_TEST_TIMEOUT: '120',
    },
    maxBuffer: 2 ** 26,
  })
  const lines = stdout.split('\n').filter(Boolean)
  const outcomes = lines.map((line) => JSON.parse(line) as Outcome)
  expect(outcomes.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
  // The number of tests in the pinned version: a missing one must be noticed.
  expect(outcomes).toHaveLength(96)
})
