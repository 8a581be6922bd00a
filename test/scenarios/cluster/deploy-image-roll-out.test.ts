import { describe, expect, test } from 'vitest'
import { clusterSite, MIRROR, NAMESPACE } from '../../kit/cluster/cluster-site.js'
import { conditionOf } from '../../../base/kubernetes/conditions.js'
import type { Deployment } from '../../../base/kubernetes/index.js'
import { minutes } from '../../../base/runtime/index.js'

const A = '38.20230718.3.0'
const B = '39.20240101.3.0'
type Cluster = Awaited<ReturnType<typeof clusterSite>>

const imageOf = async ({ kube }: Cluster, name = 'worker-0'): Promise<string | undefined> =>
  (await kube.get('PreprovisioningImage', { name, namespace: NAMESPACE })).status?.imageUrl

/** A cluster at the release with A, with an image for a host and a node in Ironic. */
async function installed(without: readonly string[] = []) {
  const cluster = await clusterSite({ without })
  await cluster.install(await cluster.release('4.12.0', A))
  await cluster.image('worker-0')
  const { stage } = cluster.site
  await cluster.clock.until(stage.enroll(stage.spec(1)))
  return cluster
}

/** Asks for the release with B. */
async function askForNext(cluster: Cluster): Promise<void> {
  const next = await cluster.release('4.13.0', B)
  cluster.notices.length = 0
  await cluster.ask({ version: '4.13.0', image: next.image })
}

/** Asks for the release with B; the version in the host's image at the moment at which its Ironic has started. */
async function versionAtStartOfIronic(cluster: Cluster): Promise<string | null> {
  const metal3 = { name: 'metal3', namespace: NAMESPACE }
  const { generation } = (await cluster.kube.get('Deployment', metal3)).metadata
  await askForNext(cluster)
  const hasStarted = ({ status }: Deployment): boolean =>
    status !== undefined && status.observedGeneration > generation! && status.availableReplicas > 0
  await cluster.until('Deployment', metal3.name, hasStarted, NAMESPACE)
  return cluster.isoVersion((await imageOf(cluster))!)
}

describe('a release with another deploy image', () => {
  test('the image service is updated before Ironic, which starts with an empty database', async () => {
    await using cluster = await installed()
    const before = (await imageOf(cluster))!
    expect(await cluster.isoVersion(before)).toBe(A)
    expect(await versionAtStartOfIronic(cluster)).toBe(B)
    expect(await cluster.site.stage.client.nodes()).toEqual([])
    await cluster.completed('4.13.0')
    expect(await imageOf(cluster)).not.toBe(before)
    await expect(cluster.isoVersion(before)).rejects.toThrow('404')
    const kinds = /^(stops|starts|makes|reports|completes)/
    expect(cluster.said().filter((line) => kinds.test(line))).toEqual([
      'stops cluster-baremetal-operator',
      'starts cluster-baremetal-operator',
      'stops metal3-image-customization',
      'starts metal3-image-customization',
      'makes the iso of worker-0: it has a new live image',
      'stops metal3',
      'starts metal3',
      'stops metal3-baremetal-operator',
      'starts metal3-baremetal-operator',
      'reports 4.13.0: metal3 pod is running',
      'completes the update to 4.13.0: all operators have reported it',
    ])
  })

  test('a release with the same deploy image and the same components restarts nothing', async () => {
    await using cluster = await clusterSite()
    const first = await cluster.release('4.12.0', A)
    await cluster.install(first)
    expect((await cluster.release('4.12.0', A)).image).toBe(first.image)
    await cluster.image('worker-0')
    cluster.notices.length = 0
    await cluster.ask({ version: '4.12.0', image: first.image })
    await cluster.clock.until(cluster.clock.sleep(minutes(10)))
    expect(cluster.said()).toEqual([])
  })
})

test('a release from before the live ISO has kernel and ramdisk, the next one has images, and the way back is open', async () => {
  await using cluster = await clusterSite()
  const { site, kube } = cluster
  const before = await cluster.release('4.9.0', A, { deployImage: 'old-ramdisk' })
  await cluster.install(before)
  const operator = async () => {
    const { spec } = await kube.get('Deployment', { name: 'metal3-baremetal-operator', namespace: NAMESPACE })
    const { args, env } = spec.template.spec.containers[0]!
    return { args, env }
  }
  const old = [
    { name: 'DEPLOY_KERNEL_URL', value: site.oldRamdisk.kernel },
    { name: 'DEPLOY_RAMDISK_URL', value: site.oldRamdisk.ramdisk },
  ]
  expect(await operator()).toEqual({ env: old })
  expect(await kube.find('Deployment', { name: 'metal3-image-customization', namespace: NAMESPACE })).toBeUndefined()
  const next = await cluster.release('4.10.0', B)
  await cluster.ask({ image: next.image })
  await cluster.completed('4.10.0')
  expect(await operator()).toEqual({ args: ['-build-preprov-image'] })
  expect(await cluster.isoVersion(await cluster.image('worker-0'))).toBe(B)
  await cluster.ask({ image: before.image, force: true })
  await cluster.completed('4.9.0')
  expect(await operator()).toEqual({ env: old })
})

describe('without a behaviour of the operator', () => {
  test('cbo/updates-image-service-first: Ironic starts while the old image is handed out', async () => {
    await using cluster = await installed(['cbo/updates-image-service-first'])
    expect(await versionAtStartOfIronic(cluster)).toBe(A)
    await cluster.completed('4.13.0')
    expect(await cluster.isoVersion((await imageOf(cluster))!)).toBe(B)
  })

  test('cbo/restarts-ironic: it continues with its nodes', async () => {
    await using cluster = await installed(['cbo/restarts-ironic'])
    await askForNext(cluster)
    await cluster.completed('4.13.0')
    expect(cluster.said()).not.toContain('starts metal3')
    expect(await cluster.site.stage.client.nodes()).toHaveLength(1)
  })

  test('cbo/copies-the-iso-of-the-release: the deploy image stays that of the first release', async () => {
    await using cluster = await installed(['cbo/copies-the-iso-of-the-release'])
    expect(await versionAtStartOfIronic(cluster)).toBe(A)
    await cluster.completed('4.13.0')
    expect(await cluster.isoVersion((await imageOf(cluster))!)).toBe(A)
  })

  test('cbo/waits-for-its-pods: the new version is reported while the old pods run', async () => {
    await using cluster = await clusterSite({ without: ['cbo/waits-for-its-pods'] })
    await cluster.install(await cluster.release('4.12.0', A))
    const { status } = await cluster.kube.get('Deployment', { name: 'metal3', namespace: NAMESPACE })
    expect(status).toMatchObject({ availableReplicas: 0, conditions: [{ type: 'Available', status: 'False' }, {}] })
  })
})

describe('a disconnected site', () => {
  test('upgrades from its mirror alone, and asks nothing else for anything', async () => {
    await using cluster = await clusterSite({ reachability: 'disconnected' })
    const first = await cluster.release('4.12.0', A)
    const next = await cluster.release('4.13.0', B)
    for (const release of [first, next]) cluster.mirror(release)
    await cluster.install(first)
    const before = await cluster.image('worker-0')
    await cluster.ask({ version: '4.13.0', image: next.image })
    await cluster.completed('4.13.0')
    expect(await imageOf(cluster)).not.toBe(before)
    expect(await cluster.isoVersion((await imageOf(cluster))!)).toBe(B)
    const { registry, network } = cluster.site
    expect(registry.pulled.filter((name) => !name.startsWith(`${MIRROR}/ocp/`))).toEqual([])
    expect(registry.pulled.length).toBeGreaterThan(8)
    expect(network.refused).toEqual([])
  })

  test('a release that was not mirrored is not accepted, and what was requested in vain is noted', async () => {
    await using cluster = await clusterSite({ reachability: 'disconnected' })
    const first = await cluster.release('4.12.0', A)
    cluster.mirror(first)
    await cluster.install(first)
    const next = await cluster.release('4.13.0', B)
    await cluster.ask({ version: '4.13.0', image: next.image })
    const { status } = await cluster.until('ClusterVersion', 'version', (one) => {
      return conditionOf(one.status?.conditions, 'ReleaseAccepted')?.status === 'False'
    })
    expect(conditionOf(status!.conditions, 'ReleaseAccepted')).toMatchObject({
      reason: 'RetrievePayload',
      message: expect.stringContaining('pinging container registry quay.io'),
    })
    expect(status!.desired.version).toBe('4.12.0')
    expect(cluster.site.network.refused[0]).toMatchObject({ what: next.image })
    cluster.mirror(next)
    await cluster.completed('4.13.0')
  })
})

describe('a payload whose live image is damaged', () => {
  test('the operator is degraded, the upgrade fails, and Ironic continues as it was', async () => {
    await using cluster = await clusterSite()
    await cluster.install(await cluster.release('4.12.0', A))
    const image = await cluster.image('worker-0')
    const { stage } = cluster.site
    const uuid = await cluster.clock.until(stage.enroll(stage.spec(1)))
    const bad = await cluster.release('4.13.0', B, { isDamaged: true })
    cluster.notices.length = 0
    await cluster.ask({ version: '4.13.0', image: bad.image })
    const { status } = await cluster.until('ClusterVersion', 'version', (one) => {
      return conditionOf(one.status?.conditions, 'Failing')?.status === 'True'
    })
    expect(conditionOf(status!.conditions, 'Failing')).toMatchObject({ reason: 'ClusterOperatorDegraded' })
    expect(status!.history[0]).toMatchObject({ state: 'Partial', version: '4.13.0' })
    const operator = await cluster.kube.get('ClusterOperator', { name: 'baremetal' })
    expect(conditionOf(operator.status!.conditions, 'Degraded')).toMatchObject({
      status: 'True',
      reason: 'DeployTimedOut',
      message: 'metal3-image-customization deployment rollout taking too long',
    })
    expect(operator.status!.versions).toEqual([{ name: 'operator', version: '4.12.0' }])
    expect(cluster.said()).toContainEqual(
      expect.stringMatching(/^cannot start metal3-image-customization: Invalid checksum of .*coreos-x86_64.iso/),
    )
    expect(await cluster.isoVersion(image)).toBe(A)
    expect((await stage.client.nodes()).map((node) => node.uuid)).toEqual([uuid])
  })
})
