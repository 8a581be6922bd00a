import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inspectDisk } from '../../machine/index.js'
import { systemClock } from '../../runtime/index.js'
import type { ApiNode, ProvisionState } from '../../wire/index.js'
import { UpProcess } from '../kit/up-process.js'
import { agentProcess } from './agent-process.js'
import { realIronic, type RealIronic } from './ironic.js'

/** Of a cold cache; minutes of it are the installation. */
const INSTALLATION = 900_000
const GUIDE = fileURLToPath(new URL('../../docs/writing-a-step.md', import.meta.url))

let ironic: RealIronic
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-own-step-'))
  ironic = await realIronic()
}, INSTALLATION)
afterAll(async () => {
  await ironic?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** The step that the guide's reader has written. */
async function stepOfTheGuide(): Promise<string> {
  const source = /^```ts wipe-nvme\.ts\n([\s\S]*?)^```$/m.exec(await readFile(GUIDE, 'utf8'))![1]!
  const path = join(folder, 'wipe-nvme.ts')
  await writeFile(path, source)
  return path
}

/** A machine that outlives the agents that run on it. */
async function machineOfItsOwn(): Promise<{ stateDir: string; diskFile: () => Promise<string> }> {
  const stateDir = join(folder, 'state')
  const up = new UpProcess(['--port', '0', '--nodes', '1', '--state-dir', stateDir])
  await up.ready
  await up.stop()
  const diskFile = async () => {
    const files = await readdir(join(stateDir, 'disks'), { recursive: true, withFileTypes: true })
    const [disk] = files.filter((file) => file.isFile() && file.name.includes('sda'))
    return join(disk!.parentPath, disk!.name)
  }
  return { stateDir, diskFile }
}

test('a step written by the guide is run by a real conductor, on the agent of the command line', async () => {
  const steps = await stepOfTheGuide()
  const { stateDir, diskFile } = await machineOfItsOwn()
  const { uuid } = (await ironic.done(201, 'POST', '/v1/nodes', {
    ...{ name: 'own-step', driver: 'fake-hardware', automated_clean: false },
  })) as ApiNode
  const node = async () => (await ironic.done(200, 'GET', `/v1/nodes/${uuid}`)) as ApiNode
  const provision = (target: string, more = {}) =>
    ironic.done(202, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target, ...more })
  const seen: ApiNode[] = []
  const reached = async (state: ProvisionState): Promise<ApiNode> => {
    const look = async () => {
      seen.push(await node())
      const { provision_state, reservation } = seen.at(-1)!
      return reservation === null ? provision_state : `${provision_state}, busy`
    }
    await expect.poll(look, { timeout: 120_000, interval: 100 }).toBe(state)
    return seen.at(-1)!
  }
  const deployed = async (...deploy_steps: { step: string; priority: number; args: object }[]) => {
    await provision('active', { deploy_steps: deploy_steps.map((each) => ({ interface: 'deploy', ...each })) })
    await reached('wait call-back')
    return agentProcess(
      ...['--ironic-url', ironic.url, '--node-uuid', uuid, '--state-dir', stateDir, '--machine', 'machine-1'],
      ...['--steps', steps],
    )
  }
  await provision('manage')
  await reached('manageable')
  await provision('provide')
  await reached('available')

  const first = await deployed(
    { step: 'install_coreos', priority: 80, args: {} },
    { step: 'wipe_nvme', priority: 50, args: { keep: [] } },
  )
  await reached('active')
  // Ironic has had the machine switched off, and with it the agent.
  await first.gone
  expect(first.lines).toContainEqual(expect.objectContaining({ event: 'progress', step: 'wipe_nvme', value: 100 }))
  const cached = seen.map(({ driver_internal_info: { agent_cached_deploy_steps: known } }) => known).find(Boolean)
  expect(cached).toMatchObject({
    deploy: expect.arrayContaining([
      expect.objectContaining({
        ...{ step: 'wipe_nvme', interface: 'deploy', priority: 0 },
        argsinfo: { keep: { description: 'Serial numbers of disks to keep.', required: false } },
      }),
    ]),
  })
  expect(seen.map(({ deploy_step: step }) => (step as { step?: string }).step)).toContain('wipe_nvme')
  // CoreOS was on it before.
  expect(await inspectDisk({ path: await diskFile() }, systemClock())).toMatchObject({ table: null, partitions: [] })

  await provision('deleted')
  await reached('available')
  const second = await deployed({ step: 'wipe_nvme', priority: 50, args: { keep: ['NO-SUCH-DISK'] } })
  expect(await reached('deploy failed')).toMatchObject({
    last_error: `Deploy step deploy.wipe_nvme failed on node ${uuid}. there are no disks with the serial numbers NO-SUCH-DISK`,
  })
  expect(await second.stop()).toBe(0)
})
