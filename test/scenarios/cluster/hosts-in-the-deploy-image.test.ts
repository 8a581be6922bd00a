import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { clusterSite, MIRROR, NAMESPACE } from '../../kit/cluster/cluster-site.js'
import { installCoreos, StagedNode } from '../../../lab/index.js'
import type { Machine, MachineSpec } from '../../../machine/index.js'
import { liveVersion } from '../../../machine/live/live-version.js'
import { minutes } from '../../../base/runtime/index.js'

const A = '38.20230718.3.0'
const B = '39.20240101.3.0'
type Cluster = Awaited<ReturnType<typeof clusterSite>>

async function up(machine: Machine): Promise<void> {
  while (machine.power() === 'on' && !machine.boot()) await delay(5)
}

const running = (machine: Machine): string | null => liveVersion(machine.boot()?.live?.kernelArguments ?? '')

const machineOf = ({ site }: Cluster, { id }: MachineSpec): Machine => site.stage.machines.get(id)!

/** Registers a machine with the image that it has now, as a client of Ironic does. */
async function registered(cluster: Cluster, spec: MachineSpec): Promise<StagedNode> {
  const { site, clock, kube } = cluster
  const image = await kube.get('PreprovisioningImage', { name: spec.id, namespace: NAMESPACE })
  const uuid = await clock.until(site.stage.enroll(spec, { boot_interface: 'redfish-virtual-media' }))
  const value = image.status!.imageUrl!
  await site.stage.client.patchNode(uuid, [{ op: 'add', path: '/driver_info/deploy_iso', value }])
  const ignition = { ignition: { version: '3.4.0' } }
  const wait = <T>(awaited: Promise<T>): Promise<T> => clock.until(awaited)
  const node = new StagedNode(site.stage, uuid, wait, { deploySteps: [installCoreos({ ignition })] })
  await node.provision('manage')
  await node.settled()
  return node
}

async function inspected(cluster: Cluster, spec: MachineSpec): Promise<StagedNode> {
  const node = await registered(cluster, spec)
  await node.provision('inspect')
  await node.settled()
  await up(machineOf(cluster, spec))
  return node
}

describe.each(['connected', 'disconnected'] as const)('the deploy image follows the release, %s', (reachability) => {
  test('hosts stay in their boot while Ironic is replaced, and boot the new image once they are registered again', async () => {
    await using cluster = await clusterSite({ reachability })
    const { site, clock } = cluster
    const first = await cluster.release('4.12.0', A)
    const next = await cluster.release('4.13.0', B)
    for (const release of [first, next]) cluster.mirror(release)
    await cluster.install(first)
    const waiting = site.stage.spec(1)
    const inUse = site.stage.spec(2)
    for (const { id } of [waiting, inUse]) await cluster.image(id)
    await inspected(cluster, waiting)
    const deployed = await inspected(cluster, inUse)
    await deployed.deploy()
    expect(await deployed.settled()).toMatchObject({ provision_state: 'active', last_error: null })
    const host = machineOf(cluster, waiting)
    const used = machineOf(cluster, inUse)
    await up(used)
    expect(running(host)).toBe(A)
    const boot = host.boot()!
    const bootOfUsed = used.boot()!
    expect(bootOfUsed).toMatchObject({ outcome: 'disk' })

    const answers: number[] = []
    site.stage.probe.attach(
      async (point, answer) => {
        const response = await answer()
        if (point['from'] === 'agent') answers.push((response as { status: number }).status)
        return response
      },
      ['exchange'],
    )
    await cluster.ask({ version: '4.13.0', image: next.image })
    await cluster.completed('4.13.0')
    expect(host.boot()).toBe(boot)
    await clock.until(clock.sleep(minutes(10)))
    expect(answers.at(-1)).toBe(404)

    await inspected(cluster, waiting)
    expect(running(host)).toBe(B)
    expect(used.boot()).toBe(bootOfUsed)
    const adopted = await registered(cluster, inUse)
    await adopted.provision('adopt')
    expect(await adopted.settled()).toMatchObject({ provision_state: 'active' })
    expect(used.boot()).toBe(bootOfUsed)

    const added = site.stage.spec(3)
    await cluster.image(added.id)
    const node = await inspected(cluster, added)
    await node.deploy()
    expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })

    const { pulled } = site.registry
    const agents = [first, next].map(({ components }) => components['baremetalIronicAgent']!.split('@')[1]!)
    for (const digest of agents) expect(pulled.filter((name) => name.endsWith(digest)).length).toBeGreaterThan(1)
    if (reachability === 'disconnected') {
      expect(pulled.filter((name) => !name.startsWith(`${MIRROR}/`))).toEqual([])
      expect(site.network.refused).toEqual([])
    }
  })
})

test('hardware that only a newer image supports cannot be inspected with the first release, and can with the next', async () => {
  await using cluster = await clusterSite()
  await cluster.install(await cluster.release('4.12.0', A))
  const spec = { ...cluster.site.stage.spec(1), supportedSince: B }
  await cluster.image(spec.id)
  const before = await inspected(cluster, spec)
  expect(await before.get()).toMatchObject({ provision_state: 'inspect failed' })
  expect(machineOf(cluster, spec).console().at(-1)).toBe(
    `no driver for the network controllers in ${A}: they are supported since ${B}`,
  )
  const next = await cluster.release('4.13.0', B)
  await cluster.ask({ image: next.image })
  await cluster.completed('4.13.0')
  const after = await inspected(cluster, spec)
  expect(await after.get()).toMatchObject({ provision_state: 'manageable', last_error: null })
  expect(running(machineOf(cluster, spec))).toBe(B)
})

test('a release whose components were not mirrored waits with the old Ironic, and goes on once they are there', async () => {
  await using cluster = await clusterSite({ reachability: 'disconnected' })
  const first = await cluster.release('4.12.0', A)
  const next = await cluster.release('4.13.0', B)
  cluster.mirror(first)
  await cluster.install(first)
  cluster.site.registry.mirror(next.image)
  const { stage } = cluster.site
  await cluster.clock.until(stage.enroll(stage.spec(1)))
  await cluster.ask({ image: next.image })
  await cluster.until('ClusterOperator', 'baremetal', ({ status }) =>
    status!.conditions.some(({ type, reason }) => type === 'Degraded' && reason === 'DeployTimedOut'),
  )
  expect(await stage.client.nodes()).toHaveLength(1)
  cluster.mirror(next)
  await cluster.completed('4.13.0')
  expect(await stage.client.nodes()).toEqual([])
})
