import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import type { ApiNode, ProvisionState } from '../../../base/wire/index.js'
import { UpProcess } from '../../kit/commands/up-process.js'
import { agentProcess } from '../agent-process.js'
import { realIronic, type RealIronic } from '../ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000
const GUIDE = fileURLToPath(new URL('../../../docs/writing-a-step.md', import.meta.url))

let ironic: RealIronic
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-command-line-'))
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
async function machineOfItsOwn(name: string): Promise<{ stateDir: string; diskFile: () => Promise<string> }> {
  const stateDir = join(folder, name)
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

/** A node without a port: agents say whose they are. */
async function availableNode(name: string) {
  const { uuid } = (await ironic.done(201, 'POST', '/v1/nodes', {
    name,
    driver: 'fake-hardware',
    automated_clean: false,
  })) as ApiNode
  const seen: ApiNode[] = []
  const provision = (target: string, more = {}) =>
    ironic.done(202, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target, ...more })
  const reached = async (state: ProvisionState): Promise<ApiNode> => {
    const look = async () => {
      seen.push((await ironic.done(200, 'GET', `/v1/nodes/${uuid}`)) as ApiNode)
      const { provision_state, reservation } = seen.at(-1)!
      return reservation === null ? provision_state : `${provision_state}, busy`
    }
    await expect.poll(look, { timeout: REAL_PEER_TIMEOUT, interval: 100 }).toBe(state)
    return seen.at(-1)!
  }
  /** Waits until Ironic knows that the agent has begun a step. */
  const hasBegun = async (step: string): Promise<void> => {
    const look = async () => {
      const { provision_state, reservation, deploy_step } = (await ironic.done(
        200,
        'GET',
        `/v1/nodes/${uuid}`,
      )) as ApiNode
      return { provision_state, reservation, deploy_step }
    }
    const expected = { provision_state: 'wait call-back', reservation: null, deploy_step: { step } }
    await expect.poll(look, { timeout: REAL_PEER_TIMEOUT, interval: 100 }).toMatchObject(expected)
  }
  const deploying = async (...deploy_steps: { step: string; priority: number; args: object }[]) => {
    await provision('active', { deploy_steps: deploy_steps.map((each) => ({ interface: 'deploy', ...each })) })
    await reached('wait call-back')
  }
  await provision('manage')
  await reached('manageable')
  await provision('provide')
  await reached('available')
  return { uuid, seen, provision, reached, hasBegun, deploying }
}

test('a step written by the guide is run by a real conductor, on the agent of the command line', async () => {
  const steps = await stepOfTheGuide()
  const { stateDir, diskFile } = await machineOfItsOwn('guide')
  const { uuid, seen, provision, reached, deploying } = await availableNode('own-step')
  const agent = () =>
    agentProcess(
      ...['--ironic-url', ironic.url, '--node-uuid', uuid, '--state-dir', stateDir, '--machine', 'machine-1'],
      ...['--steps', steps],
    )
  await deploying(
    { step: 'install_coreos', priority: 80, args: {} },
    { step: 'wipe_nvme', priority: 50, args: { keep: [] } },
  )
  await using first = agent()
  await reached('active')
  // Ironic has had the machine switched off, and with it the agent.
  await first.gone
  expect(first.lines).toContainEqual(expect.objectContaining({ event: 'progress', step: 'wipe_nvme', value: 100 }))
  const cached = seen.map(({ driver_internal_info: { agent_cached_deploy_steps: known } }) => known).find(Boolean)
  expect(cached).toMatchObject({
    deploy: expect.arrayContaining([
      expect.objectContaining({
        step: 'wipe_nvme',
        interface: 'deploy',
        priority: 0,
        argsinfo: { keep: { description: 'Serial numbers of disks to keep.', required: false } },
      }),
    ]),
  })
  expect(seen.map(({ deploy_step: step }) => (step as { step?: string }).step)).toContain('wipe_nvme')
  // CoreOS was on it before.
  expect(await inspectDisk({ path: await diskFile() }, systemClock())).toMatchObject({ table: null, partitions: [] })

  await provision('deleted')
  await reached('available')
  await deploying({ step: 'wipe_nvme', priority: 50, args: { keep: ['NO-SUCH-DISK'] } })
  await using second = agent()
  expect(await reached('deploy failed')).toMatchObject({
    last_error: `Deploy step deploy.wipe_nvme failed on node ${uuid}. there are no disks with the serial numbers NO-SUCH-DISK`,
  })
  expect(await second.stop()).toBe(0)
})

test('an agent that is killed in the middle of a step continues with its boot, and says what was lost', async () => {
  const steps = join(folder, 'slow.ts')
  await writeFile(
    steps,
    `import { defineStep } from 'ironstage'
    export const slow = defineStep({
      name: 'slow',
      interface: 'deploy',
      on: ['deploy'],
      run: async ({ clock, progress, signal }) => {
        progress.stage('waiting')
        await clock.sleep(600_000, { signal })
      },
    })`,
  )
  const { stateDir } = await machineOfItsOwn('killed')
  const { uuid, reached, hasBegun, deploying } = await availableNode('killed-agent')
  const agent = () =>
    agentProcess(
      ...['--ironic-url', ironic.url, '--node-uuid', uuid, '--state-dir', stateDir, '--machine', 'machine-1'],
      ...['--steps', steps],
    )
  await deploying({ step: 'slow', priority: 50, args: {} })
  await using first = agent()
  await expect
    .poll(() => first.lines, { timeout: REAL_PEER_TIMEOUT })
    .toContainEqual(expect.objectContaining({ step: 'slow', name: 'waiting' }))
  await hasBegun('slow')
  await first.kill()
  // A real conductor takes an agent without its commands for one that has rebooted, and goes on to the next step.
  await using second = agent()
  expect(await reached('deploy failed')).toMatchObject({
    last_error: expect.stringContaining(
      `Deploy step deploy.slow failed on node ${uuid}. slow was under way when the agent`,
    ),
  })
  expect(await second.stop()).toBe(0)
})
