import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BOOT_IMAGE_RECORD, BOOT_IMAGE_REFUSED, BOOT_IMAGE_UPDATES } from '../../../apps/cluster/index.js'
import type { StagedLab } from '../../../lab/index.js'
import { minutes } from '../../../base/runtime/index.js'
import { buildMeta } from '../../kit/builds.js'
import { bootImageServer, streamOf, type BootImageServer } from '../../kit/cluster/boot-images.js'
import {
  NAMESPACE,
  operatedCluster,
  type Installation,
  type OperatedCluster,
  type OperatedOptions,
  type WantedRelease,
} from '../../kit/cluster/operated-cluster.js'
import { qcow2Image } from '../../../machine/making/qcow2-image.js'
import { smallImage } from '../../kit/images/rehearsal-image.js'

const OLD = '38.20230718.3.0'
const NEW = '39.20240101.3.0'
const DAEMON_STATE = 'machineconfiguration.openshift.io/state'
let server: BootImageServer
const images: Record<string, Installation> = {}
let qcow2: Installation
beforeAll(async () => {
  server = await bootImageServer([OLD, NEW])
  for (const version of [OLD, NEW]) images[version] = server.installation(version)
  const bytes = qcow2Image(await smallImage(), { compressed: true })
  server.files['/old.qcow2'] = bytes
  const checksum = createHash('sha256').update(bytes).digest('hex')
  qcow2 = { image: { url: server.url('/old.qcow2'), checksum, checksumType: 'sha256', format: 'qcow2' } }
})
afterAll(() => server[Symbol.asyncDispose]())

const repository = 'quay.io/openshift/node'
const nodeImage = ({ registry }: Pick<StagedLab, 'registry'>, version: string) =>
  registry.publish({ repository, version, base: version })

/** A release whose boot image and node image have a version of CoreOS. */
const release = (lab: Pick<StagedLab, 'registry'>, version: string, coreos: string): WantedRelease => ({
  version,
  nodeImage: nodeImage(lab, coreos),
  bootImages: streamOf(images[coreos]!, coreos),
})

/** A cluster at 4.12.0 with the old boot image, and the release 4.13.0 with the new one. */
async function atOld(options: OperatedOptions = {}) {
  const cluster = await operatedCluster((lab) => release(lab, '4.12.0', OLD), options)
  const next = await cluster.release(release(cluster.lab, '4.13.0', NEW))
  return { cluster, next }
}

const urlOf = (version: string) => images[version]!.image!.url
const refusalOf = async ({ kube }: OperatedCluster, name: string) =>
  (await kube.get('MachineSet', { name, namespace: NAMESPACE })).metadata.annotations?.[BOOT_IMAGE_REFUSED]
const hasImage = (cluster: OperatedCluster, name: string, version: string) =>
  cluster.until(
    'MachineSet',
    name,
    ({ spec }) => spec.template.spec.providerSpec.value?.image?.url === urlOf(version),
    NAMESPACE,
  )
const pause = ({ kube }: OperatedCluster, paused: boolean) =>
  kube.patch('MachineConfigPool', { name: 'worker' }, { spec: { paused } })

/** Adds a host, and waits until it is a running node of a set. */
async function grow(cluster: OperatedCluster, host: string, replicas: number): Promise<void> {
  await cluster.addHost(host)
  await cluster.scale('workers', replicas)
  await cluster.running('workers', replicas)
}

describe('row 15: a new boot image is withheld until the upgrade is complete', () => {
  test('the upgrade first: new machines are installed from the old image until it is complete, then from the new one', async () => {
    const { cluster, next } = await atOld()
    await using _ = cluster
    await cluster.machineSet('workers', 0, images[OLD]!)
    await grow(cluster, 'first', 1)
    await pause(cluster, true)
    await cluster.upgrade(next)
    await cluster.completed('4.13.0')
    // The ClusterVersion is complete by now, but not every node runs the release.
    await grow(cluster, 'during', 2)
    expect(await cluster.installedFrom('during')).toBe(urlOf(OLD))
    await pause(cluster, false)
    await hasImage(cluster, 'workers', NEW)
    expect((await cluster.machine('first')).os()!.booted.version).toBe(NEW)
    await grow(cluster, 'after', 3)
    expect(await cluster.installedFrom('after')).toBe(urlOf(NEW))
    expect((await cluster.machine('after')).os()!.booted.version).toBe(NEW)
    expect(await cluster.installedFrom('during')).toBe(urlOf(OLD))
  })

  test('without mco/withholds-boot-images a machine that is added meanwhile is newer than its cluster', async () => {
    const { cluster, next } = await atOld({ without: ['mco/withholds-boot-images'] })
    await using _ = cluster
    await cluster.machineSet('workers', 0, images[OLD]!)
    await pause(cluster, true)
    await grow(cluster, 'first', 1)
    await cluster.upgrade(next)
    await cluster.completed('4.13.0')
    await grow(cluster, 'during', 2)
    expect(await cluster.installedFrom('during')).toBe(urlOf(NEW))
  })

  test('the image first: it is refused while the upgrade is under way, and taken afterwards', async () => {
    const { cluster, next } = await atOld()
    await using _ = cluster
    await cluster.machineSet('workers', 0, images[OLD]!)
    await grow(cluster, 'first', 1)
    await pause(cluster, true)
    await cluster.upgrade(next)
    await cluster.completed('4.13.0')
    await cluster.setImage('workers', images[NEW]!)
    await hasImage(cluster, 'workers', OLD)
    expect(await refusalOf(cluster, 'workers')).toBe(
      `the boot image ${NEW} is withheld: the upgrade to 4.13.0 is not complete: pool worker is not updated`,
    )
    await pause(cluster, false)
    await hasImage(cluster, 'workers', NEW)
    expect(await refusalOf(cluster, 'workers')).toBeUndefined()
    await grow(cluster, 'after', 2)
    expect((await cluster.machine('after')).os()!.booted.version).toBe(NEW)
  })

  test.each([
    [[], OLD, true],
    [['mco/refuses-older-boot-images'], OLD, false],
  ])(
    'an image older than the one that the cluster was installed with is refused, but not without %j',
    async (without, older, isRefused) => {
      await using cluster = await operatedCluster((lab) => release(lab, '4.13.0', NEW), { without })
      await cluster.machineSet('workers', 0, images[NEW]!)
      await cluster.pass(minutes(1))
      await cluster.setImage('workers', images[older]!)
      await cluster.pass(minutes(1))
      expect((await cluster.imageOf('workers'))?.url).toBe(urlOf(isRefused ? NEW : OLD))
      const why = `${OLD} is older than ${NEW}, which the cluster was installed with`
      expect(await refusalOf(cluster, 'workers')).toBe(isRefused ? why : undefined)
    },
  )

  test('a release with an image older than the first is one that the cluster does not go to', async () => {
    await using cluster = await operatedCluster((lab) => release(lab, '4.13.0', NEW))
    await cluster.upgrade(await cluster.release(release(cluster.lab, '4.12.0', OLD)))
    const { status } = await cluster.until('ClusterVersion', 'version', ({ status: now }) =>
      now!.conditions!.some(({ type, status: is }) => type === 'ReleaseAccepted' && is === 'False'),
    )
    const accepted = status!.conditions!.find(({ type }) => type === 'ReleaseAccepted')
    expect(accepted!.message).toContain('installed with')
  })

  test('two sources of truth that differ are found, and named with what they say', async () => {
    const { cluster } = await atOld()
    await using _ = cluster
    await cluster.machineSet('workers', 0, images[OLD]!)
    await cluster.pass(minutes(1))
    const skew = async () => {
      const text = (await cluster.kube.find('ConfigMap', BOOT_IMAGE_RECORD))?.data?.['skew']
      return text === undefined ? [] : (JSON.parse(text) as unknown)
    }
    expect(await skew()).toEqual([])
    const built = {
      ...release(cluster.lab, '4.12.1', OLD),
      bootimage: JSON.stringify(buildMeta('x86_64', { version: NEW })),
    }
    await cluster.upgrade(await cluster.release(built))
    await cluster.completed('4.12.1')
    const { status } = await cluster.until('ClusterOperator', 'machine-config', ({ status: now }) =>
      now!.conditions.some(({ reason }) => reason === 'BootImageSkew'),
    )
    expect(await skew()).toEqual([
      { place: 'coreos-bootimages', version: OLD },
      { place: 'release payload', version: NEW },
      { place: 'machine set workers', version: OLD },
    ])
    expect(status!.conditions.find(({ reason }) => reason === 'BootImageSkew')!.message).toBe(
      `boot images differ: coreos-bootimages has ${OLD}, release payload has ${NEW}, machine set workers has ${OLD}`,
    )
  })
})

describe('row 16: scale-up uses the newer image', () => {
  test('a machine that is added after the update installs and boots the new version, without a pull of the old one', async () => {
    const { cluster, next } = await atOld()
    await using _ = cluster
    await cluster.machineSet('workers', 0, images[OLD]!)
    await grow(cluster, 'old', 1)
    const first = nodeImage(cluster.lab, OLD)
    const second = nodeImage(cluster.lab, NEW)
    const old = await cluster.machine('old')
    expect(old.os()).toMatchObject({ booted: { version: OLD, image: first }, kubelet: 'may start' })
    await cluster.upgrade(next)
    await hasImage(cluster, 'workers', NEW)
    const pulled = cluster.lab.registry.fetched.length
    await grow(cluster, 'added', 2)
    const os = (await cluster.machine('added')).os()!
    expect(os).toMatchObject({ booted: { version: NEW, image: second }, kubelet: 'may start' })
    expect(os.status.deployments.map(({ version }) => version)).toEqual([NEW, NEW])
    expect(cluster.lab.registry.fetched.slice(pulled).map(({ image }) => image)).toEqual([second])
    expect(old.os()).toMatchObject({ booted: { version: NEW, image: second } })
  })

  test('it takes minutes less, and pulls less, than one from the old image', async () => {
    const pace = { power: 5000, bootRamdisk: minutes(2), bootDisk: minutes(1), writeRate: 200 * 2 ** 20 }
    const cost = async (version: string): Promise<{ time: number; bytes: number }> => {
      await using cluster = await operatedCluster(
        (lab) => ({
          ...release(lab, '4.13.0', NEW),
          nodeImage: lab.registry.publish({ repository, version: NEW, base: NEW, inDiskImages: true }),
        }),
        { machinePace: pace, pullRate: 8 * 2 ** 20 },
      )
      const annotations = { [BOOT_IMAGE_UPDATES]: 'None' }
      await cluster.machineSet('workers', 0, images[version]!, { annotations })
      await cluster.addHost('added')
      const begun = cluster.clock.now()
      await cluster.scale('workers', 1)
      await cluster.running('workers', 1)
      const bytes = cluster.lab.registry.fetched.reduce((sum, { size }) => sum + size, 0)
      return { time: cluster.clock.now() - begun, bytes }
    }
    const before = await cost(OLD)
    const after = await cost(NEW)
    expect(before.time - after.time).toBeGreaterThanOrEqual(minutes(3))
    expect(before.bytes).toBeGreaterThan(2 ** 30)
    expect(after.bytes).toBe(0)
  })

  test.each(['master', 'worker'])('%s nodes are re-provisioned in place from the updated boot image', async (role) => {
    const { cluster, next } = await atOld()
    await using _ = cluster
    await cluster.machineSet('set', 1, images[OLD]!, { role })
    await cluster.addHost('host')
    await cluster.running('set', 1)
    expect(await cluster.installedFrom('host')).toBe(urlOf(OLD))
    const machine = await cluster.machine('host')
    expect(machine.os()!.booted.version).toBe(OLD)
    await cluster.upgrade(next)
    await hasImage(cluster, 'set', NEW)
    expect(await cluster.installedFrom('host')).toBe(urlOf(OLD))
    const { metadata } = (await cluster.kube.list('Machine')).items[0]!
    await cluster.kube.delete('Machine', { name: metadata.name, namespace: NAMESPACE })
    await cluster.until(
      'BareMetalHost',
      'host',
      ({ spec, status }) => spec.consumerRef?.name !== metadata.name && status?.provisioning.image?.url === urlOf(NEW),
      NAMESPACE,
    )
    await cluster.running('set', 1)
    await cluster.inState('host', 'Done')
    expect(machine.os()!.booted).toEqual({ version: NEW, image: nodeImage(cluster.lab, NEW) })
    expect(machine.os()!.status.deployments.map(({ version }) => version)).toEqual([NEW, NEW])
    const { annotations } = (await cluster.node('host')).metadata
    expect(annotations![DAEMON_STATE]).toBe('Done')
  })

  test('bootstrap nodes are re-provisioned in place from the updated boot image', async () => {
    const { cluster } = await atOld()
    await using _ = cluster
    const at = { name: 'bootstrap', namespace: NAMESPACE }
    const pointer = (image: string) => ({
      ignition: { version: '3.4.0' },
      storage: {
        files: [{ path: '/etc/pivot/image-pullspec', contents: { source: `data:,${encodeURIComponent(image)}` } }],
      },
    })
    await cluster.addHost('bootstrap')
    const machine = await cluster.machine('bootstrap')
    const install = async (version: string) => {
      const image = nodeImage(cluster.lab, version)
      const stringData = { userData: JSON.stringify(pointer(image)) }
      if (await cluster.kube.find('Secret', at)) await cluster.kube.patch('Secret', at, { stringData })
      else await cluster.kube.create<'Secret'>({ apiVersion: 'v1', kind: 'Secret', metadata: at, stringData })
      await cluster.kube.patch('BareMetalHost', at, { spec: { ...images[version], userData: at, online: true } })
      await cluster.until(
        ...(['BareMetalHost', 'bootstrap'] as const),
        ({ status }) => status?.provisioning.image?.url === urlOf(version),
        NAMESPACE,
      )
      await cluster.pass(minutes(1))
      expect(machine.os()).toMatchObject({ booted: { version, image }, kubelet: 'may start' })
      expect(machine.os()!.status.deployments).toHaveLength(2)
    }
    await install(OLD)
    await cluster.kube.patch('BareMetalHost', at, { spec: { image: null, customDeploy: null, userData: null } })
    await cluster.until(
      ...(['BareMetalHost', 'bootstrap'] as const),
      ({ status }) => status?.provisioning.state === 'available',
      NAMESPACE,
    )
    await install(NEW)
  })
})

describe('row 9: existing clusters keep their QCOW2 image, and can go back', () => {
  test.each(['unpinned', 'pinned'])(
    'through an upgrade and a downgrade %s machine sets install what they always did',
    async (kind) => {
      await using cluster = await operatedCluster({ version: '4.9.0' })
      const annotations: Record<string, string> = kind === 'pinned' ? { [BOOT_IMAGE_UPDATES]: 'None' } : {}
      await cluster.machineSet('workers', 0, qcow2, { annotations })
      const later = await cluster.release(release(cluster.lab, '4.10.0', NEW))
      const first = await cluster.release({ version: '4.9.0' })
      for (const [index, next] of [later, first].entries()) {
        // A cluster goes back over a minor version by force only.
        await cluster.upgrade(next, { force: true })
        await cluster.completed(next.version)
        await cluster.pass(minutes(10))
        expect(await cluster.imageOf('workers')).toEqual(qcow2.image)
        const host = `host-${index}`
        await cluster.addHost(host)
        await cluster.scale('workers', index + 1)
        await cluster.until(
          'BareMetalHost',
          host,
          ({ status }) => status?.provisioning.state === 'provisioned',
          NAMESPACE,
        )
        expect(await cluster.ironicNode(host)).toMatchObject({
          deploy_interface: 'direct',
          instance_info: { image_source: qcow2.image!.url },
        })
      }
    },
  )

  test('machine sets that are pinned keep their CoreOS image; without mco/keeps-pinned-boot-images they do not', async () => {
    for (const isPinned of [true, false]) {
      const { cluster, next } = await atOld({ without: isPinned ? [] : ['mco/keeps-pinned-boot-images'] })
      await using _ = cluster
      await cluster.machineSet('workers', 0, images[OLD]!, { annotations: { [BOOT_IMAGE_UPDATES]: 'None' } })
      await cluster.upgrade(next)
      await cluster.completed('4.13.0')
      await cluster.pass(minutes(10))
      expect((await cluster.imageOf('workers'))?.url).toBe(urlOf(isPinned ? OLD : NEW))
    }
  })
})
