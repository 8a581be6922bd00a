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

/** The cloud of each role: here are no roles, whoever gets in may do all. */
const ROLES = ['SYSTEM_ADMIN_CLOUD', 'OPERATOR_CLOUD', 'DEMO_CLOUD', 'DEMO_CLOUD_ALT']

/** Tests mostly sleep, a second or two at a time. */
const AT_ONCE = 4

interface Outcome {
  test: string
  outcome: 'passed' | 'failed' | 'skipped'
  text: string
}

let venv: string
let ironic: ServedIronic
let folder: string
let variables: Record<string, string>
beforeAll(async () => {
  venv = await openstackClients()
  folder = await mkdtemp(join(tmpdir(), 'ironstage-clients-'))
  // As the project's own runs have it: fake hardware with fake interfaces, of which nothing is a machine.
  ironic = await served({ profile: 'upstream' })
  variables = {
    ...bareEnvironment(),
    ...(await cloud(folder, ironic.url)),
    ...Object.fromEntries(ROLES.map((role) => [`OPENSTACKSDK_${role}`, 'ironstage'])),
    ...{ OS_LOG_CAPTURE: '1', OS_STDOUT_CAPTURE: '1', OS_STDERR_CAPTURE: '1', OS_TEST_TIMEOUT: '120' },
  }
}, INSTALLATION)
afterAll(async () => {
  await ironic?.[Symbol.asyncDispose]()
  if (folder) await rm(folder, { recursive: true, force: true })
})

async function modules(): Promise<string[]> {
  const library = join(venv, 'lib', (await readdir(join(venv, 'lib')))[0]!)
  const files = await readdir(join(library, 'site-packages/openstack/tests/functional/baremetal/v1'))
  return files.filter((name) => /^test_.*\.py$/.test(name)).map((name) => name.slice(0, -3))
}

async function outcomes(module: string): Promise<Outcome[]> {
  const { stdout } = await run(join(venv, 'bin/python'), [RUNNER, module], { env: variables, maxBuffer: 2 ** 26 })
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Outcome)
}

test('all of its own functional tests for bare metal pass', async () => {
  const left = await modules()
  // The longest first.
  left.sort((a, b) => Number(a === 'test_node') - Number(b === 'test_node'))
  const all: Outcome[] = []
  const worker = async () => {
    for (let module; (module = left.pop());) all.push(...(await outcomes(module)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))

  expect(all.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
  // Of the version that is pinned: none is missing without a word.
  expect(all).toHaveLength(96)
})
