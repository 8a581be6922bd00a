import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  Cluster,
  provisionNode,
  type BootImage,
  type ClusterRelease,
  type ClusterRole,
} from '../../kit/cluster/cluster.js'
import { createStagedLab, type StagedLab, type StagedNode } from '../../../lab/index.js'
import { imageServer, machineOf } from '../../kit/deployed.js'
import { qcow2Image } from '../../kit/images/qcow2-image.js'
import { smallImage } from '../../kit/images/rehearsal-image.js'
import { versionedImage } from '../../kit/images/versioned-images.js'
import { createHash } from 'node:crypto'

const [OLD, NEW] = ['38.20230718.3.0', '39.20240101.3.0']
let server: Awaited<ReturnType<typeof imageServer>>
const images: Record<string, BootImage> = {}
let qcow2: BootImage
beforeAll(async () => {
  const files: Record<string, Uint8Array> = {}
  server = await imageServer(files)
  for (const version of [OLD, NEW]) {
    const { bytes, sha256 } = await versionedImage(version)
    files[`/${version}.raw`] = bytes
    images[version] = { kind: 'coreos', version, url: server.url(`/${version}.raw`), sha256 }
  }
  files['/old.qcow2'] = qcow2Image(await smallImage(), { compressed: true })
  const sha256 = createHash('sha256').update(files['/old.qcow2']).digest('hex')
  qcow2 = { kind: 'qcow2', version: OLD, url: server.url('/old.qcow2'), sha256 }
})
afterAll(() => server[Symbol.asyncDispose]())

const release = (version: string, bootImage: BootImage, nodeImage: string | null = null): ClusterRelease => ({
  ...{ version, bootImage, nodeImage },
})

/** Has a machine provisioned as the cluster's operator does, and waits until its OS is up. */
async function provision(lab: StagedLab, cluster: Cluster, role: ClusterRole = 'worker'): Promise<StagedNode> {
  const node = await lab.enroll()
  await node.makeAvailable()
  await provisionNode(lab.client, node.uuid, cluster.provisioning(role))
  await settled(lab, node)
  return node
}

async function settled(lab: StagedLab, node: StagedNode): Promise<void> {
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  const machine = await machineOf(node)
  const done = () => machine.boot()?.outcome === 'disk' && (machine.os()?.pivot ?? { state: 'done' }).state === 'done'
  await lab.wait(
    (async () => {
      while (!done()) await lab.clock.sleep(500)
    })(),
  )
}

const versionOf = async (node: StagedNode) => (await machineOf(node)).os()?.booted.version

describe('row 15: a new boot image is withheld until the upgrade is complete', () => {
  test('the upgrade first: new machines are installed from the old image until it is complete, then from the new one', async () => {
    await using lab = await createStagedLab({ clock: 'auto' })
    const cluster = new Cluster(release('4.12.0', images[OLD]!))
    cluster.beginUpgrade(release('4.13.0', images[NEW]!))
    const during = await provision(lab, cluster)
    expect(await versionOf(during)).toBe(OLD)
    cluster.completeUpgrade()
    const after = await provision(lab, cluster)
    expect(await versionOf(after)).toBe(NEW)
    expect(await versionOf(during)).toBe(OLD)
  })

  test('the image first: it is refused while the upgrade is under way, and taken afterwards', async () => {
    await using lab = await createStagedLab({ clock: 'auto' })
    const cluster = new Cluster(release('4.12.0', images[OLD]!))
    cluster.beginUpgrade(release('4.13.0', images[NEW]!))
    expect(() => cluster.updateBootImage(images[NEW]!)).toThrow(
      `the boot image ${NEW} is withheld: the upgrade to 4.13.0 is not complete`,
    )
    expect(cluster.bootImage.version).toBe(OLD)
    cluster.completeUpgrade()
    cluster.updateBootImage(images[NEW]!)
    expect(await versionOf(await provision(lab, cluster))).toBe(NEW)
  })

  test('an image older than the one that the cluster was installed with is refused', () => {
    const cluster = new Cluster(release('4.13.0', images[NEW]!))
    expect(() => cluster.updateBootImage(images[OLD]!)).toThrow(`${OLD} is older than ${NEW}`)
    expect(() => cluster.beginUpgrade(release('4.12.0', images[OLD]!))).toThrow('installed with')
  })

  test('two sources of truth that differ are found, and named with what they say', () => {
    const cluster = new Cluster(release('4.12.0', images[OLD]!))
    expect(cluster.drift({ installer: OLD, 'release image': OLD })).toEqual([])
    expect(cluster.drift({ installer: OLD, 'release image': NEW })).toEqual([
      {
        image: 'boot image',
        places: [
          { place: 'machine sets', version: OLD },
          { place: 'installer', version: OLD },
          { place: 'release image', version: NEW },
        ],
      },
    ])
  })
})

describe('row 16: scale-up uses the newer image', () => {
  test('a machine that is added after the update installs and boots the new version, without a pull of the old one', async () => {
    await using lab = await createStagedLab({ clock: 'auto' })
    const node = (version: string) => lab.registry.publish({ repository: 'quay.io/x/node', version, base: version })
    const [first, second] = [node(OLD), node(NEW)]
    const cluster = new Cluster(release('4.12.0', images[OLD]!, first))
    const old = await provision(lab, cluster)
    expect((await machineOf(old)).os()).toMatchObject({ booted: { version: OLD, image: first }, kubelet: 'may start' })
    cluster.beginUpgrade(release('4.13.0', images[NEW]!, second))
    cluster.completeUpgrade()
    const added = await provision(lab, cluster)
    const os = (await machineOf(added)).os()!
    expect(os).toMatchObject({ booted: { version: NEW, image: second }, kubelet: 'may start' })
    expect(os.status.deployments.map(({ version }) => version)).toEqual([NEW, NEW])
    expect((await machineOf(old)).os()).toMatchObject({ booted: { version: OLD, image: first } })
  })

  test.each(['control plane', 'worker', 'bootstrap'] as const)(
    '%s nodes are re-provisioned in place from the updated boot image',
    async (role) => {
      await using lab = await createStagedLab({ clock: 'auto' })
      const cluster = new Cluster(release('4.12.0', images[OLD]!))
      const node = await provision(lab, cluster, role)
      expect(await versionOf(node)).toBe(OLD)
      cluster.beginUpgrade(release('4.13.0', images[NEW]!))
      cluster.completeUpgrade()
      await provisionNode(lab.client, node.uuid, cluster.provisioning(role), 'rebuild')
      await settled(lab, node)
      expect(await versionOf(node)).toBe(NEW)
      expect((await machineOf(node)).os()!.status.deployments).toHaveLength(1)
    },
  )
})

describe('row 9: existing clusters keep their QCOW2 image, and can go back', () => {
  test('through an upgrade and a downgrade the machine sets install what they always did', async () => {
    await using lab = await createStagedLab({ clock: 'auto' })
    const cluster = new Cluster(release('4.9.0', qcow2), { pinned: true })
    for (const next of [release('4.10.0', images[NEW]!), release('4.9.0', qcow2)]) {
      cluster.beginUpgrade(next)
      cluster.completeUpgrade()
      expect(cluster.release.version).toBe(next.version)
      expect(cluster.bootImage).toBe(qcow2)
      const node = await provision(lab, cluster)
      expect(await node.get()).toMatchObject({ deploy_interface: 'direct', instance_info: { image_source: qcow2.url } })
    }
  })
})
