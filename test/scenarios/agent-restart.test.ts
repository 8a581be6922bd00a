import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAgent, type Agent } from '../../agent/index.js'
import { installCoreos, openStateFolder } from '../../lab/index.js'
import { openStandaloneAgent } from '../../apps/runs/index.js'
import { defaultMachineSpec, inspectDisk, openMachines, type Machine } from '../../machine/index.js'
import { Probe, Scope, seededRandom, silent, systemClock, VirtualClock } from '../../base/runtime/index.js'
import { readPartitions, standardManagers } from '../../steps/index.js'
import type { CommandList, CommandResult } from '../../base/wire/index.js'
import { IMAGE, ignition } from '../kit/deployed.js'
import { ask, TOKEN } from '../kit/fake-ironic.js'

const RESTARTED_MACHINE_TIMES = { power: 0, bootRamdisk: 0, bootDisk: 0, writeRate: 2 ** 20 }
const step = {
  name: 'deploy.execute_deploy_step',
  params: { step: installCoreos({ ignition }), node: { uuid: 'n' }, ports: [] },
}

test('an agent that was restarted on the same boot follows an install that still runs to its end', async () => {
  await using scope = new Scope()
  const clock = new VirtualClock()
  const probe = new Probe()
  const installers: string[] = []
  probe.attach((point, next) => {
    const argv = point.kind === 'command' ? (point['argv'] as string[]) : []
    if (argv.includes('install') && argv.includes('coreos-installer')) installers.push(argv.join(' '))
    return next()
  })
  const { machine, booted } = await inRamdisk(scope, clock, probe)
  let state: unknown
  let installing = (): void => {}
  const begun = new Promise<void>((resolve) => (installing = resolve))
  const start = (): Agent =>
    scope.use(
      startAgent({
        target: machine.target,
        managers: standardManagers,
        environment: {},
        probe,
        logger: silent,
        clock,
        boot: { id: booted, parameters: {} },
        callbackUrl: 'http://agent',
        standalone: { token: TOKEN },
        transport: { send: () => Promise.reject(new Error('there is no Ironic')) },
        saved: { read: () => state, write: async (value) => void (state = structuredClone(value)) },
        random: seededRandom(3),
        onProgress: (progress) => void (progress.kind === 'line' && installing()),
      }),
    )
  const first = start()
  await clock.advance(0)
  const { body } = await ask(first.dispatch, 'POST', `/v1/commands/?agent_token=${TOKEN}`, step)
  expect(body).toMatchObject({ command_status: 'RUNNING' })
  await clock.until(begun)
  await first.stop()

  const second = start()
  await clock.advance(0)
  const list = await ask(second.dispatch, 'GET', `/v1/commands/?agent_token=${TOKEN}`)
  const [running] = (list.body as CommandList).commands
  expect(running).toMatchObject({ id: (body as CommandResult).id, command_status: 'RUNNING' })

  const awaited = `/v1/commands/${running!.id}?wait=true&agent_token=${TOKEN}`
  const ended = await clock.until(ask(second.dispatch, 'GET', awaited))

  expect(ended.body).toMatchObject({ command_status: 'SUCCEEDED', command_error: null })
  expect(installers).toHaveLength(1)
  const { partitions } = await readPartitions(machine.target, '/dev/sda')
  expect(partitions.map(({ label }) => label)).toContain('boot')
})

test('SIGTERM in the middle of an install leaves what a killed installer leaves: no table; the command has failed', async () => {
  const dir = join(await mkdtemp(join(tmpdir(), 'ironstage-agent-')), 'state')
  const id = 'machine-1'
  {
    using folder = await openStateFolder(dir)
    const seeds = {
      clock: systemClock(),
      random: seededRandom(1),
      probe: new Probe(),
      logger: silent,
      pace: RESTARTED_MACHINE_TIMES,
    }
    const events = { ramdiskUp: () => {}, down: () => {} }
    await using machines = await openMachines({ stateDir: folder.path, ...seeds, events })
    await machines.create({ ...defaultMachineSpec(1), metalImage: IMAGE })
  }
  let installing = (): void => {}
  const begun = new Promise<void>((resolve) => (installing = resolve))
  const opened = (folder: Awaited<ReturnType<typeof openStateFolder>>) =>
    openStandaloneAgent({
      serves: { token: TOKEN },
      machine: { folder, id },
      machinePace: RESTARTED_MACHINE_TIMES,
      logger: silent,
      clock: systemClock(),
      random: seededRandom(1),
      onProgress: (progress) => void (progress.kind === 'line' && installing()),
    })
  const of = (url: string) => `${url}/v1/commands/?agent_token=${TOKEN}`
  {
    using folder = await openStateFolder(dir)
    await using agent = await opened(folder)
    const posted = await fetch(of(agent.callbackUrl), { method: 'POST', body: JSON.stringify(step) })
    expect(await posted.json()).toMatchObject({ command_status: 'RUNNING' })
    await begun
  }
  using folder = await openStateFolder(dir)
  await using agent = await opened(folder)
  const read = async () => ((await (await fetch(of(agent.callbackUrl))).json()) as CommandList).commands[0]
  await expect.poll(async () => (await read())?.command_status).toBe('FAILED')

  expect((await read())!.command_error).toMatchObject({ details: expect.stringMatching(/killed|SIGKILL/) })
  const path = (await agent.machine.diskFile('sda'))!
  expect((await inspectDisk({ path }, systemClock())).boot).toBeNull()
  expect((await readPartitions(agent.machine.target, '/dev/sda')).partitions).toEqual([])
})

async function inRamdisk(
  scope: Scope,
  clock: VirtualClock,
  probe: Probe,
): Promise<{ machine: Machine; booted: string }> {
  let up = (_boot: string): void => {}
  const booted = new Promise<string>((resolve) => (up = resolve))
  const machines = scope.use(
    await openMachines({
      stateDir: null,
      clock,
      random: seededRandom(1),
      probe,
      logger: silent,
      pace: RESTARTED_MACHINE_TIMES,
      events: { ramdiskUp: (_machine, boot) => up(boot.id), down: () => {} },
    }),
  )
  const machine = await machines.create({ ...defaultMachineSpec(1), metalImage: IMAGE })
  await machine.setBoot({ kind: 'ramdisk', parameters: {} })
  await machine.setPower('on')
  return { machine, booted: await clock.until(booted) }
}
