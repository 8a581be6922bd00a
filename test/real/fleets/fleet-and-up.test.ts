import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LabClient } from '../../../control/index.js'
import { Scope, systemClock } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient, type ApiNode } from '../../../base/wire/index.js'
import { installCoreos, REHEARSAL_IMAGE } from '../../../lab/index.js'
import { UpProcess } from '../../kit/commands/up-process.js'
import { FleetProcess } from '../../kit/fleet/fleet-process.js'
import { slowImage } from '../../kit/fleet/slow-image.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

const SPEED = ['--speed', '10']
const NAMES = ['machine-1', 'machine-2', 'machine-3']

test('ironstage up deploys the machines of ironstage fleet, and each survives a kill of the other', async () => {
  await using scope = new Scope()
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-elsewhere-'))
  const upArgv = ['--machines', 'elsewhere', '--port', '0', '--state-dir', join(folder, 'ironic'), ...SPEED]
  let up = new UpProcess([...upArgv, '--set', 'deploy.fast_track=false'])
  const url = await up.ready
  const fleetArgv = ['--count', '3', '--redfish-port', '0', '--state-dir', join(folder, 'fleet'), ...SPEED]
  const enrolling = [...fleetArgv, '--ironic-url', url, '--enroll', '--boot-time', '2s']
  let fleet = await FleetProcess.start(enrolling)
  onTestFinished(async () => {
    await fleet[Symbol.asyncDispose]()
    if (up.alive) await up.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const clock = systemClock()
  const client = new IronicClient({ endpoint: url, clock, transport: scope.use(new HttpTransport({ clock })) })
  const settled = async (name: string, state: string): Promise<ApiNode> => {
    const seen = async () => (await client.node(name)).provision_state
    await expect.poll(seen, { timeout: REAL_PEER_TIMEOUT }).toBe(state)
    return client.node(name)
  }
  const outcome = async (name: string) => (await new LabClient(fleet.ready.control_url).machine(name)).boot?.outcome
  const slow = await slowImage(await readFile(REHEARSAL_IMAGE), scope)
  const deployment = { deploy_steps: [installCoreos({ image_url: slow.url })] }
  await expect
    .poll(async () => (await client.nodes()).map(({ name }) => name).sort(), { timeout: REAL_PEER_TIMEOUT })
    .toEqual(NAMES)
  for (const target of ['manage', 'inspect', 'provide']) {
    await Promise.all(NAMES.map((name) => client.provision(name, target)))
    await Promise.all(NAMES.map((name) => settled(name, target === 'provide' ? 'available' : 'manageable')))
  }
  await client.patchNode('machine-1', [{ op: 'replace', path: '/deploy_interface', value: 'custom-agent' }])
  await client.patchNode('machine-2', [{ op: 'replace', path: '/deploy_interface', value: 'custom-agent' }])

  // A rack that loses its power in the middle of an installation.
  await client.provision('machine-1', 'active', deployment)
  await slow.asked
  await fleet.kill()
  fleet = await FleetProcess.start(fleetArgv)
  expect((await settled('machine-1', 'deploy failed')).last_error ?? '').not.toContain('password')
  slow.finish()
  await client.provision('machine-1', 'active', deployment)
  await settled('machine-1', 'active')
  await expect.poll(() => outcome('machine-1'), { timeout: REAL_PEER_TIMEOUT }).toBe('disk')

  // An Ironic that is killed while a ramdisk boots.
  await client.provision('machine-2', 'active', deployment)
  await expect
    .poll(async () => (await client.node('machine-2')).provision_state, { timeout: REAL_PEER_TIMEOUT, interval: 5 })
    .not.toBe('available')
  await up.kill()
  up = new UpProcess(upArgv)
  expect(await up.ready).toBe(url)
  const { provision_state: state } = await expect
    .poll(async () => client.node('machine-2'), { timeout: REAL_PEER_TIMEOUT })
    .toSatisfy(({ provision_state: now }: ApiNode) => ['active', 'deploy failed'].includes(now))
    .then(() => client.node('machine-2'))
  if (state === 'deploy failed') {
    await client.provision('machine-2', 'active', deployment)
    await settled('machine-2', 'active')
  }
  await expect.poll(() => outcome('machine-2'), { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
  await client.power('machine-2', 'power off')
  await expect
    .poll(async () => (await new LabClient(fleet.ready.control_url).machine('machine-2')).power, {
      timeout: REAL_PEER_TIMEOUT,
    })
    .toBe('off')
  for (const name of ['machine-1', 'machine-2']) {
    await client.provision(name, 'deleted')
    await settled(name, 'available')
  }
  for (const name of NAMES) await client.deleteNode(name)
  expect(await client.nodes()).toEqual([])
}, 300_000)
