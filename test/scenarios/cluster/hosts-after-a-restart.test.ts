import { describe, expect, test } from 'vitest'
import { clusterSite, MIRROR, NAMESPACE } from '../../kit/cluster/cluster-site.js'
import type { Machine, MachineSpec } from '../../../machine/index.js'
import { liveVersion } from '../../../machine/live/live-version.js'
import { minutes, seconds } from '../../../base/runtime/index.js'

const A = '38.20230718.3.0'
const B = '39.20240101.3.0'
type Cluster = Awaited<ReturnType<typeof clusterSite>>

/** Version of the live system that a machine runs; null when it runs another, or is off. */
const running = (machine: Machine): string | null => liveVersion(machine.boot()?.live?.kernelArguments ?? '')

/** Adds a host for a new machine, as an administrator applies its manifest. */
async function addHost({ kube, site }: Cluster, number: number, spec: Record<string, unknown> = {}): Promise<Machine> {
  const machine: MachineSpec = site.stage.spec(number)
  const { id, bmc, nics } = machine
  const at = (name: string) => ({ name, namespace: NAMESPACE })
  await site.stage.machines.create(machine)
  if (!(await kube.find('Secret', at('bmc'))))
    await kube.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: at('bmc'),
      stringData: { username: 'admin', password: 'password' },
    })
  await kube.create({
    apiVersion: 'metal3.io/v1alpha1',
    kind: 'BareMetalHost',
    metadata: at(id),
    spec: {
      online: true,
      bmc: {
        address: `redfish-virtualmedia+http://${bmc!.address}/redfish/v1/Systems/${bmc!.systemId}`,
        credentialsName: 'bmc',
      },
      bootMACAddress: nics[0]!.mac,
      ...spec,
    },
  })
  return site.stage.machines.get(id)!
}

const inState = (cluster: Cluster, { spec }: Machine, state: string) =>
  cluster.until('BareMetalHost', spec.id, ({ status }) => status?.provisioning.state === state)

/** Waits in lab time until a machine is as it should be. */
async function until(cluster: Cluster, holds: () => boolean): Promise<void> {
  const { clock } = cluster
  const end = clock.now() + minutes(120)
  while (!holds()) {
    if (clock.now() > end) throw new Error('the machine is not so within two hours')
    await clock.until(clock.sleep(seconds(5)))
  }
}

describe.each(['connected', 'disconnected'] as const)('an upgrade, %s', (reachability) => {
  test('BareMetal Operator registers all hosts again, leaves a node as it is, and provisions others through the new image', async () => {
    await using cluster = await clusterSite({ reachability })
    const { site, kube } = cluster
    const first = await cluster.release('4.12.0', A)
    const next = await cluster.release('4.13.0', B)
    for (const release of [first, next]) cluster.mirror(release)
    await cluster.install(first)
    const waiting = await addHost(cluster, 1)
    const inUse = await addHost(cluster, 2, { customDeploy: { method: 'install_coreos' } })
    await inState(cluster, waiting, 'available')
    await inState(cluster, inUse, 'provisioned')
    await until(cluster, () => running(waiting) === A && inUse.boot()?.outcome === 'disk')
    const bootOfUsed = inUse.boot()!

    await cluster.ask({ version: '4.13.0', image: next.image })
    await cluster.completed('4.13.0')
    const again = 'Ironic does not know its node'
    await until(cluster, () => cluster.said().filter((line) => line.endsWith(again)).length === 2)
    const versions: (string | null)[] = []
    site.stage.events.listen((event) => {
      if (event.kind === 'ramdisk-up' && event.machine === waiting.spec.id) versions.push(running(waiting))
    })
    const at = { name: waiting.spec.id, namespace: NAMESPACE }
    await kube.patch('BareMetalHost', at, { spec: { customDeploy: { method: 'install_coreos' } } })
    await inState(cluster, waiting, 'provisioned')
    await until(cluster, () => waiting.boot()?.outcome === 'disk')
    expect(new Set(versions)).toEqual(new Set([B]))
    expect(inUse.boot()).toBe(bootOfUsed)
    const states = (await site.stage.client.nodes()).map(({ provision_state: state }) => state)
    expect(states).toEqual(['active', 'active'])
    if (reachability === 'disconnected') {
      expect(site.registry.pulled.filter((name) => !name.startsWith(`${MIRROR}/`))).toEqual([])
      expect(site.network.refused).toEqual([])
    }
  })
})

test('hosts that are on in the deploy image are rebooted into the new one, others boot it next, those in use stay', async () => {
  await using cluster = await clusterSite()
  await cluster.install(await cluster.release('4.12.0', A))
  const waiting = await addHost(cluster, 1)
  const off = await addHost(cluster, 2, { online: false })
  const inUse = await addHost(cluster, 3, { customDeploy: { method: 'install_coreos' } })
  for (const host of [waiting, off]) await inState(cluster, host, 'available')
  await inState(cluster, inUse, 'provisioned')
  await until(cluster, () => running(waiting) === A && off.power() === 'off' && inUse.boot()?.outcome === 'disk')
  const bootOfUsed = inUse.boot()!

  await cluster.ask({ image: (await cluster.release('4.13.0', B)).image })
  await cluster.completed('4.13.0')
  await until(cluster, () => running(waiting) === B)
  expect(off.power()).toBe('off')
  const at = { name: off.spec.id, namespace: NAMESPACE }
  await cluster.kube.patch('BareMetalHost', at, { metadata: { annotations: { 'inspect.metal3.io': '' } } })
  await inState(cluster, off, 'inspecting')
  await until(cluster, () => running(off) === B)
  expect(inUse.boot()).toBe(bootOfUsed)
})
