import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bareEnvironment, openstackClients } from './baremetal.js'
import { cloud } from './cloud.js'

const run = promisify(execFile)

const RUNNER = fileURLToPath(new URL('./functional.py', import.meta.url))

/** The cloud of each role; ironstage has no roles, every authenticated client may do everything. */
const ROLES = ['SYSTEM_ADMIN_CLOUD', 'OPERATOR_CLOUD', 'DEMO_CLOUD', 'DEMO_CLOUD_ALT']

interface TestOutcome {
  test: string
  outcome: 'passed' | 'failed' | 'skipped'
  text: string
}

/** Number of tests in the pinned version of openstacksdk: a missing one must be noticed. */
export const FUNCTIONAL_TESTS = 96

/** Runs openstacksdk's own functional tests for bare metal against an Ironic of fake hardware. */
export async function functionalTests(url: string): Promise<TestOutcome[]> {
  const venv = await openstackClients()
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-clients-'))
  try {
    const [python] = await readdir(join(venv, 'lib'))
    const { stdout } = await run(join(venv, 'bin/python'), [RUNNER, join(venv, 'lib', python!, 'site-packages')], {
      env: {
        ...bareEnvironment(),
        ...(await cloud(folder, url)),
        ...Object.fromEntries(ROLES.map((role) => [`OPENSTACKSDK_${role}`, 'ironstage'])),
        OS_LOG_CAPTURE: '1',
        OS_STDOUT_CAPTURE: '1',
        OS_STDERR_CAPTURE: '1',
        OS_TEST_TIMEOUT: '120',
      },
      maxBuffer: 2 ** 26,
    })
    const lines = stdout.split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as TestOutcome)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
