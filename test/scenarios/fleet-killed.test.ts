import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import { LabClient } from '../../control/index.js'
import type { ApiNode, JsonObject } from '../../base/wire/index.js'
import { FleetProcess } from '../kit/fleet/fleet-process.js'
import { redfishIronic, type RedfishIronic } from '../kit/fleet/redfish-ironic.js'

/** Time passes so many times as fast, in the Ironic and in the fleet. */
const SPEED = 10
const MACHINES = 6

let folder: string
let ironic: RedfishIronic
let fleet: FleetProcess
let image: Buffer
/** Nodes by the names of their machines. */
let nodes: Map<string, ApiNode>

const argv = (...more: string[]): string[] => [
  '--count',
  String(MACHINES),
  '--redfish-port',
  '0',
  '--ipmi-port',
  '0',
  '--state-dir',
  join(folder, 'state'),
  '--hosts-out',
  join(folder, 'nodes.json'),
  '--speed',
  String(SPEED),
  ...more,
]
const listed = async () =>
  (JSON.parse(await readFile(join(folder, 'nodes.json'), 'utf8')) as { nodes: (JsonObject & { name: string })[] }).nodes

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-fleet-'))
  image = await readFile(REHEARSAL_IMAGE)
  // Cleaning is asked for where it is the subject.
  ironic = await redfishIronic(SPEED, { automatedClean: false })
  fleet = await FleetProcess.start(argv('--boot-time', '2s'))
  nodes = new Map()
  for (const { ports, ...fields } of await listed()) {
    const node = await ironic.client.createNode({
      ...fields,
      driver: 'redfish',
      deploy_interface: 'custom-agent',
      rescue_interface: 'agent',
    })
    for (const port of ports as JsonObject[])
      await ironic.client.createPort({ node_uuid: node.uuid, address: String(port['address']) })
    await ironic.client.provision(node.uuid, 'manage')
    nodes.set(String(fields['name']), node)
  }
  for (const name of nodes.keys()) await settled(name, 'manageable')
}, 60_000)
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]()
  await ironic?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const node = (name: string) => ironic.client.node(nodes.get(name)!.uuid)
const provision = (name: string, target: string, more: object = {}) =>
  ironic.client.provision(nodes.get(name)!.uuid, target, more)
async function settled(name: string, ...states: string[]): Promise<ApiNode> {
  const deadline = performance.now() + 20_000
  for (;;) {
    const found = await node(name)
    if (states.includes(found.provision_state)) return found
    const { provision_state: state, last_error: error } = found
    if (performance.now() > deadline || /fail|error/.test(state))
      throw new Error(`${name} was to become ${states.join(' or ')}, and is ${state}: ${error}\n${fleet.log.join('')}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
const control = () => new LabClient(fleet.ready.control_url)
const booted = async (name: string) => (await control().machine(name)).boot?.outcome ?? null

/** Kills the fleet, and starts it again on its folder, so often. */
async function killed(times = 1, ...more: string[]): Promise<void> {
  for (let left = times; left > 0; left--) {
    await fleet.kill()
    fleet = await FleetProcess.start(argv(...more))
  }
}

const deployment = (url: string) => ({
  deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args: { image_url: url } }],
})

async function deploys(name: string): Promise<void> {
  const { url, finish } = await ironic.slow(image)
  finish()
  await provision(name, 'active', deployment(url))
  await settled(name, 'active')
  await expect.poll(() => booted(name), { timeout: 10_000 }).toBe('disk')
}

describe('a fleet that is killed and started again on its folder', { timeout: 60_000 }, () => {
  test('has the same machines at the same addresses with the same password; those that were on are on', async () => {
    const before = { hosts: await listed(), ready: fleet.ready }
    const uuid = nodes.get('machine-1')!.uuid
    await ironic.client.power(uuid, 'power on')
    await expect.poll(async () => (await node('machine-1')).power_state).toBe('power on')
    await killed()
    expect(await listed()).toEqual(before.hosts)
    expect(fleet.ready).toEqual(before.ready)
    const power = new Map((await control().machines()).machines.map(({ id, power }) => [id, power]))
    expect(Object.fromEntries(power)).toMatchObject({ 'machine-1': 'on', 'machine-2': 'off' })
  })

  test('while a ramdisk boots: it boots again, and is inspected', async () => {
    await killed(1, '--boot-time', '20s')
    await provision('machine-2', 'inspect')
    await settled('machine-2', 'inspect wait')
    await expect.poll(async () => (await control().machine('machine-2')).power).toBe('on')
    await killed(1, '--boot-time', '2s')
    await settled('machine-2', 'manageable')
  })

  test('while the installer writes: the deployment fails and says so, also after a second kill; the next one succeeds', async () => {
    await provision('machine-3', 'provide')
    await settled('machine-3', 'available')
    const { url, asked } = await ironic.slow(image)
    await provision('machine-3', 'active', deployment(url))
    await asked
    await killed(2)
    const { last_error: error } = await settled('machine-3', 'deploy failed')
    expect(error).toContain(
      'install_coreos was under way when the agent was killed, and its program with it; how far it got is not known',
    )
    await deploys('machine-3')
  })

  test('an agent that waits for Ironic continues: its node is rescued, and is not inspected or looked up again', async () => {
    await provision('machine-4', 'provide')
    await settled('machine-4', 'available')
    await deploys('machine-4')
    await provision('machine-4', 'rescue', { rescue_password: 'a password' })
    await settled('machine-4', 'rescue')
    await killed(2)
    await provision('machine-4', 'unrescue')
    await settled('machine-4', 'active')
    await expect.poll(() => booted('machine-4'), { timeout: 10_000 }).toBe('disk')
  })

  test('in manual cleaning: the step is lost or done, and the node can be cleaned again', async () => {
    const steps = { clean_steps: [{ interface: 'deploy', step: 'erase_devices_metadata' }] }
    await provision('machine-5', 'clean', steps)
    await expect
      .poll(async () => (await node('machine-5')).clean_step, { timeout: 20_000, interval: 5 })
      .toMatchObject({
        step: 'erase_devices_metadata',
      })
    await killed()
    const left = await settled('machine-5', 'manageable', 'clean failed')
    if (left.provision_state === 'clean failed') {
      expect(left.last_error).toMatch(/killed|agent/)
      await ironic.client.setMaintenance(left.uuid, false)
      await provision('machine-5', 'manage')
      await settled('machine-5', 'manageable')
      await provision('machine-5', 'clean', steps)
      await settled('machine-5', 'manageable')
    }
  })

  test('an installed machine is on, and boots its system from the disk that it had', async () => {
    await provision('machine-6', 'provide')
    await settled('machine-6', 'available')
    await deploys('machine-6')
    await killed(2)
    expect(await booted('machine-6')).toBe('disk')
    const { id } = (await control().machine('machine-6')).boot!
    await ironic.client.power(nodes.get('machine-6')!.uuid, 'rebooting')
    const again = async () => (await control().machine('machine-6')).boot
    await expect.poll(async () => (await again())?.id ?? id, { timeout: 10_000 }).not.toBe(id)
    expect(await again()).toMatchObject({ outcome: 'disk' })
  })
})
