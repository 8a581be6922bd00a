import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { minutes } from '../../../base/runtime/index.js'
import type { StagedLab } from '../../../lab/index.js'
import {
  NAMESPACE,
  operatedCluster,
  type Installation,
  type OperatedCluster,
  type OperatedOptions,
} from '../../kit/cluster/operated-cluster.js'
import { bootImageServer, streamOf, type BootImageServer } from '../../kit/cluster/boot-images.js'

const BASE = '9.6.20250826.1'
const KEY = 'machineconfiguration.openshift.io'
const CRIO = '/etc/crio/crio.conf.d/00-default'
let server: BootImageServer
let base: Installation
beforeAll(async () => {
  server = await bootImageServer([BASE])
  base = server.installation(BASE)
})
afterAll(() => server[Symbol.asyncDispose]())

const repository = 'quay.io/openshift-release-dev/ocp-v4.0-art-dev'
const published = ({ registry }: Pick<StagedLab, 'registry'>) =>
  ['9.6.20250902.0', '9.6.20251015.1'].map((version) => registry.publish({ repository, version, base: BASE }))

/** A cluster at 4.19 with nodes, and the release 4.20 to go to. */
async function atFirst(hosts: readonly string[], options: OperatedOptions = {}, role = 'worker') {
  const bootImages = streamOf(base, BASE)
  const cluster = await operatedCluster(
    (lab) => ({ version: '4.19.0', nodeImage: published(lab)[0]!, bootImages }),
    options,
  )
  const [first, second] = published(cluster.lab) as [string, string]
  for (const host of hosts) await cluster.addHost(host)
  await cluster.machineSet('set', hosts.length, base, { role })
  await cluster.running('set', hosts.length)
  for (const host of hosts) await cluster.runs(host, first)
  const next = await cluster.release({ version: '4.20.0', nodeImage: second, bootImages })
  cluster.notices.length = 0
  return { cluster, first, second, next }
}

const imageOf = async (cluster: OperatedCluster, host: string) => (await cluster.machine(host)).os()?.booted.image
const annotationsOf = async (cluster: OperatedCluster, host: string) => (await cluster.node(host)).metadata.annotations!

describe('a pull that fails', () => {
  test('degrades the node and its pool with the reason, keeps the old system, and is tried again', async () => {
    const { cluster, first, second, next } = await atFirst(['host-0'])
    await using _ = cluster
    cluster.lab.registry.fail(second, 'not-found', 9)
    await cluster.upgrade(next)
    await cluster.inState('host-0', 'Degraded', 'manifest unknown')
    expect((await annotationsOf(cluster, 'host-0'))[`${KEY}/reason`]).toMatch(
      /^failed to update OS to .* after retries: /,
    )
    expect(await imageOf(cluster, 'host-0')).toBe(first)
    const pool = await cluster.until('MachineConfigPool', 'worker', ({ status }) => status!.degradedMachineCount === 1)
    expect(pool.status!.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Degraded',
        status: 'True',
        message: expect.stringMatching(/^Node host-0 is reporting: "failed to update OS/),
      }),
    )
    const failed = cluster.clock.now()
    await cluster.runs('host-0', second)
    expect(cluster.clock.now() - failed).toBeGreaterThanOrEqual(minutes(5))
    expect(cluster.said().filter((line) => line.includes('cannot pull'))).toHaveLength(2)
  })

  test('is not tried again without mco/retries-pulls, and the node stays on its old release', async () => {
    const { cluster, first, second, next } = await atFirst(['host-0'], { without: ['mco/retries-pulls'] })
    await using _ = cluster
    cluster.lab.registry.fail(second, 'timeout', 1)
    await cluster.upgrade(next)
    await cluster.inState('host-0', 'Degraded', 'i/o timeout')
    await cluster.pass(minutes(30))
    expect(await imageOf(cluster, 'host-0')).toBe(first)
  })
})

describe('a paused pool', () => {
  const pause = (cluster: OperatedCluster, paused: boolean) =>
    cluster.kube.patch('MachineConfigPool', { name: 'worker' }, { spec: { paused } })

  test('does not update its nodes until it continues', async () => {
    const { cluster, first, second, next } = await atFirst(['host-0'])
    await using _ = cluster
    await pause(cluster, true)
    await cluster.upgrade(next)
    await cluster.completed('4.20.0')
    await cluster.pass(minutes(20))
    expect(await imageOf(cluster, 'host-0')).toBe(first)
    const { status } = await cluster.kube.get('MachineConfigPool', { name: 'worker' })
    const updating = status!.conditions!.find(({ type }) => type === 'Updating')
    expect(updating).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/^Pool is paused; will not update/),
    })
    await pause(cluster, false)
    await cluster.runs('host-0', second)
  })

  test('updates anyway without mco/honours-paused-pools', async () => {
    const { cluster, second, next } = await atFirst(['host-0'], { without: ['mco/honours-paused-pools'] })
    await using _ = cluster
    await pause(cluster, true)
    await cluster.upgrade(next)
    await cluster.runs('host-0', second)
    expect(await imageOf(cluster, 'host-0')).toBe(second)
  })
})

describe('a node whose disk is changed past the cluster', () => {
  test.each<[string, (machine: ChangedMachine) => Promise<void>, string]>([
    [
      'by its content',
      ({ running }) => running.write(CRIO, Buffer.from('changed')),
      `content mismatch for file "${CRIO}"`,
    ],
    [
      'by its mode',
      ({ running, rootFiles }) => running.write(CRIO, bytesOf(rootFiles()!), 0o600),
      `mode mismatch for file: "${CRIO}"; expected: -rw-r--r--/420/0644; received: -rw-------/384/0600`,
    ],
    [
      'by a removal',
      ({ running }) => running.remove(CRIO),
      `could not stat file "${CRIO}": lstat ${CRIO}: no such file or directory`,
    ],
  ])('%s, is degraded, is not updated, and is done again once it is put right', async (_, change, problem) => {
    const { cluster, first, second, next } = await atFirst(['host-0'])
    await using _cluster = cluster
    const machine = await cluster.machine('host-0')
    const bytes = bytesOf(machine.rootFiles()!)
    await change({ running: machine.running, rootFiles: () => machine.rootFiles() })
    await cluster.inState('host-0', 'Degraded', problem)
    const annotations = await annotationsOf(cluster, 'host-0')
    const config = annotations[`${KEY}/currentConfig`]!
    expect(annotations[`${KEY}/reason`]).toBe(`unexpected on-disk state validating against ${config}: ${problem}`)
    await cluster.upgrade(next)
    await cluster.pass(minutes(20))
    expect(await imageOf(cluster, 'host-0')).toBe(first)
    await machine.running.write(CRIO, bytes, 0o644)
    await cluster.runs('host-0', second)
  })

  test('counts as done without mco/detects-config-drift', async () => {
    const { cluster } = await atFirst(['host-0'], { without: ['mco/detects-config-drift'] })
    await using _ = cluster
    await (await cluster.machine('host-0')).running.write(CRIO, Buffer.from('changed'))
    await cluster.pass(minutes(20))
    expect((await annotationsOf(cluster, 'host-0'))[`${KEY}/state`]).toBe('Done')
  })
})

type ChangedMachine = Pick<Awaited<ReturnType<OperatedCluster['machine']>>, 'running' | 'rootFiles'>
const bytesOf = (tree: { read(path: string): Uint8Array | undefined }) => tree.read(CRIO)!

describe('several nodes', () => {
  const hosts = ['host-0', 'host-1', 'host-2']
  const order = (cluster: OperatedCluster) =>
    cluster.said().flatMap((line) => /^(tells|reboots|has brought) host/.exec(line)?.[1] ?? [])

  test('become the release one after another', async () => {
    const { cluster, second, next } = await atFirst(hosts)
    await using _ = cluster
    await cluster.upgrade(next)
    for (const host of hosts) await cluster.runs(host, second)
    expect(order(cluster)).toEqual(hosts.flatMap(() => ['tells', 'reboots', 'has brought']))
  })

  test('all reboot at once without mco/respects-max-unavailable', async () => {
    const { cluster, second, next } = await atFirst(hosts, { without: ['mco/respects-max-unavailable'] })
    await using _ = cluster
    await cluster.upgrade(next)
    for (const host of hosts) await cluster.runs(host, second)
    expect(order(cluster).slice(0, 3)).toEqual(['tells', 'tells', 'tells'])
  })
})

test.each([
  [[], true],
  [['mco/drains-nodes'], false],
])('a node is cordoned and drained before it reboots, but not without %j', async (without, isDrained) => {
  const { cluster, second, next } = await atFirst(['host-0'], { without })
  await using _ = cluster
  await cluster.upgrade(next)
  await cluster.runs('host-0', second)
  expect(cluster.said().some((line) => line.startsWith('cordons and drains host-0'))).toBe(isDrained)
})

const slow = { pullRate: 2 ** 20, machinePace: { power: 1000, bootRamdisk: 1000, bootDisk: minutes(1), writeRate: 0 } }
test.each([
  [[], true],
  [['mco/waits-for-required-pools'], false],
])('the upgrade is complete when the control plane runs it; without %j it is too early', async (without, isThere) => {
  const { cluster, second, next } = await atFirst(['host-0'], { ...slow, without }, 'master')
  await using _ = cluster
  await cluster.upgrade(next)
  await cluster.completed('4.20.0')
  expect((await imageOf(cluster, 'host-0')) === second).toBe(isThere)
  await cluster.runs('host-0', second)
})

test('power that goes in the midst of an update costs the pull, not the node', async () => {
  const { cluster, first, second, next } = await atFirst(['host-0'], slow)
  await using _ = cluster
  await cluster.upgrade(next)
  await cluster.until('Node', 'host-0', ({ spec }) => spec?.unschedulable === true)
  await cluster.pass(minutes(1))
  const machine = await cluster.machine('host-0')
  await cluster.clock.until(machine.setPower('reboot'))
  expect(machine.os()!.booted.image).toBe(first)
  await cluster.runs('host-0', second)
  expect(machine.os()!.booted.image).toBe(second)
})

describe('the machine config server', () => {
  const ask = async (cluster: OperatedCluster, role: string, accept: string) => {
    const answer = await fetch(`${cluster.config.server.url}/config/${role}`, { headers: { accept } })
    const body = answer.status === 200 ? ((await answer.json()) as { ignition: { version: string } }) : undefined
    return { status: answer.status, version: body?.ignition.version }
  }
  const accept = (version: string) => `application/vnd.coreos.ignition+json;version=${version}, */*;q=0.1`

  test('sends each machine a version of the spec that it reads', async () => {
    const { cluster } = await atFirst([])
    await using _ = cluster
    await cluster.updated('worker')
    expect(await ask(cluster, 'worker', accept('3.5.0'))).toEqual({ status: 200, version: '3.5.0' })
    expect(await ask(cluster, 'worker', accept('3.1.0'))).toEqual({ status: 200, version: '3.1.0' })
    expect(await ask(cluster, 'worker', accept('2.2.0'))).toMatchObject({ status: 400 })
    expect(await ask(cluster, 'nobody', accept('3.5.0'))).toMatchObject({ status: 404 })
  })

  test('sends its own version to all without mco/translates-ignition', async () => {
    const { cluster } = await atFirst([], { without: ['mco/translates-ignition'] })
    await using _ = cluster
    await cluster.updated('worker')
    expect(await ask(cluster, 'worker', accept('3.1.0'))).toMatchObject({ version: '3.5.0' })
  })

  test('leaves a machine without a kubelet without mco/serves-the-node-image', async () => {
    const { cluster } = await atFirst([], { without: ['mco/serves-the-node-image'] })
    await using _ = cluster
    await cluster.addHost('host-0')
    await cluster.scale('set', 1)
    await cluster.until(
      'BareMetalHost',
      'host-0',
      ({ status }) => status?.provisioning.state === 'provisioned',
      NAMESPACE,
    )
    await cluster.pass(minutes(20))
    expect((await cluster.machine('host-0')).os()).toMatchObject({ kubelet: 'not installed', booted: { image: null } })
    expect((await cluster.kube.list('Node')).items).toEqual([])
  })
})
