import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { recording } from '../../../kit/recorder.js'
import { bareEnvironment, Baremetal, openstackClients } from './baremetal.js'
import { cloud } from './cloud.js'
import { INSTALLATION, served } from './served.js'
import { temporaryFolder } from '../../../../base/runtime/index.js'

const run = promisify(execFile)
const SCENARIOS = fileURLToPath(new URL('./openstacksdk.py', import.meta.url))

/** Results of openstacksdk's scenarios, by their names. */
async function scenarios(venv: string, url: string): Promise<Record<string, unknown>> {
  await using folder = await temporaryFolder()
  const env = { ...bareEnvironment(), ...(await cloud(folder.path, url)) }
  const { stdout } = await run(join(venv, 'bin/python'), [SCENARIOS], { env })
  const lines = stdout.split('\n').filter(Boolean)
  return Object.fromEntries(
    lines.map((line) => {
      const { scenario, result, error } = JSON.parse(line) as { scenario: string; result?: unknown; error?: string }
      return [scenario, error === undefined ? Object.keys(Object(result) as object) : { error }]
    }),
  )
}

test(
  'openstacksdk and the baremetal command work through a recorder as without',
  { timeout: INSTALLATION },
  async () => {
    const venv = await openstackClients()
    await using direct = await served()
    await using behind = await served()
    await using stage = await recording(behind.url)
    const [wanted, found] = await Promise.all([scenarios(venv, direct.url), scenarios(venv, stage.url)])
    expect(found).toEqual(wanted)
    expect(found['lifecycle']).not.toHaveProperty('error')

    await using baremetal = await Baremetal.open({ OS_AUTH_TYPE: 'none', OS_ENDPOINT: stage.url })
    await baremetal.ok('node create --driver fake-hardware --name recorded')
    expect(await baremetal.json('node show recorded')).toMatchObject({ name: 'recorded', provision_state: 'enroll' })

    const exchanges = await stage.exchanges()
    expect(exchanges.length).toBeGreaterThan(100)
    expect(exchanges.filter(({ failure }) => failure !== undefined)).toEqual([])
  },
)
