import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../../../base/runtime/index.js'
import { operatedCluster, type Installation, type OperatedCluster } from '../../kit/cluster/operated-cluster.js'
import { bootImageServer, streamOf, type BootImageServer } from '../../kit/cluster/boot-images.js'

const BASE = '9.6.20250826.1'
const FCOS = '39.20231204.3.3'
let server: BootImageServer
let base: Installation
beforeAll(async () => {
  server = await bootImageServer([BASE, FCOS])
  base = server.installation(BASE)
})
afterAll(() => server[Symbol.asyncDispose]())

const REPOSITORY = 'quay.io/openshift-release-dev/ocp-v4.0-art-dev'

const KEY = 'machineconfiguration.openshift.io'

test('a base image becomes the node image at its first boot, and a running node the next one by the machine config operator', async () => {
  await using cluster = await operatedCluster({ version: '4.18.0' })
  const { lab } = cluster
  const [first, second] = ['9.6.20250902.0', '9.6.20251015.1'].map((version) =>
    lab.registry.publish({ repository: REPOSITORY, version, base: BASE }),
  )
  const bootImages = streamOf(base, BASE)
  await cluster.upgrade(await cluster.release({ version: '4.19.0', nodeImage: first!, bootImages }))
  await cluster.completed('4.19.0')
  await cluster.addHost('host-0')
  await cluster.machineSet('workers', 1, base)
  await cluster.running('workers', 1)
  const machine = await cluster.machine('host-0')
  expect(machine.os()).toMatchObject({ booted: { image: first, version: '9.6.20250902.0' }, kubelet: 'may start' })
  const boots = machine.boot()!.id
  const { requests } = cluster.config.server
  expect(requests).toEqual([{ role: 'worker', accept: expect.stringContaining('version=3'), status: 200 }])

  cluster.notices.length = 0
  await cluster.upgrade(await cluster.release({ version: '4.20.0', nodeImage: second!, bootImages }))
  await cluster.runs('host-0', second!)
  expect(machine.os()).toMatchObject({ booted: { version: '9.6.20251015.1' }, kubelet: 'may start' })
  expect(machine.boot()!.id).not.toBe(boots)
  expect(await cluster.node('host-0')).toMatchObject({
    metadata: { annotations: { [`${KEY}/state`]: 'Done' } },
    status: { nodeInfo: { osImage: 'CoreOS 9.6.20251015.1', bootID: machine.boot()!.id } },
  })
  const shown = cluster.said().map((line) => line.replaceAll(/-[0-9a-f]{6}\b/g, '-HASH'))
  expect(shown.filter((line) => line.includes('host-0'))).toEqual([
    'asks host-0 to become rendered-worker-HASH: pool worker may have 1 nodes away',
    'cordons and drains host-0: its daemon asks for it, for rendered-worker-HASH',
    'reboots host-0: it is to run rendered-worker-HASH',
    'uncordons host-0: its daemon asks for it, for rendered-worker-HASH',
    'has brought host-0 to rendered-worker-HASH: the disk is as the configuration says',
  ])
})

test('OKD: Fedora CoreOS becomes the node image, and the next one in the upgrade', async () => {
  const versions = ['39.20240101.3.0', '40.20240616.3.0']
  const fcos = server.installation(FCOS)
  const bootImages = streamOf(fcos, FCOS)
  const published = ({ registry }: Pick<OperatedCluster['lab'], 'registry'>) =>
    versions.map((version) => registry.publish({ repository: 'quay.io/openshift/okd-content', version, base: FCOS }))
  await using cluster = await operatedCluster((lab) => ({
    version: '4.15.0-0.okd',
    nodeImage: published(lab)[0]!,
    bootImages,
  }))
  const [first, second] = published(cluster.lab) as [string, string]
  await cluster.addHost('host-0')
  await cluster.machineSet('workers', 1, fcos)
  await cluster.running('workers', 1)
  const machine = await cluster.machine('host-0')
  expect(machine.os()!.booted).toEqual({ version: versions[0], image: first })
  await cluster.upgrade(await cluster.release({ version: '4.16.0-0.okd', nodeImage: second, bootImages }))
  await cluster.runs('host-0', second)
  expect(machine.os()!.status.deployments).toMatchObject([
    { booted: true, version: versions[1] },
    { booted: false, version: versions[0] },
  ])
})

test('two releases with one base image: neither the base nor its disk image is fetched again', async () => {
  const bootImages = streamOf(base, BASE)
  const published = ({ registry }: Pick<OperatedCluster['lab'], 'registry'>) =>
    ['9.6.20250902.0', '9.6.20251015.1'].map((version) =>
      registry.publish({ repository: REPOSITORY, version, base: BASE }),
    )
  const folder = await temporaryFolder()
  await using _folder = folder
  await using cluster = await operatedCluster(
    (lab) => ({ version: '4.19.0', nodeImage: published(lab)[0]!, bootImages }),
    { imageCache: { folder: folder.path } },
  )
  const [first, second] = published(cluster.lab) as [string, string]
  const downloads = () => server.requests.filter((line) => line === `GET /${BASE}/coreos-metal.raw`).length
  const before = downloads()
  await cluster.machineSet('workers', 1, base)
  await cluster.addHost('host-0')
  await cluster.running('workers', 1)
  expect(downloads() - before).toBe(1)
  await cluster.upgrade(await cluster.release({ version: '4.20.0', nodeImage: second, bootImages }))
  await cluster.runs('host-0', second)
  await cluster.addHost('host-1')
  await cluster.scale('workers', 2)
  await cluster.running('workers', 2)
  await cluster.runs('host-1', second)
  expect(downloads() - before).toBe(1)
  // The base's layer is on the disk from the start: only what the cluster adds is pulled, once for each node and release.
  const { fetched } = cluster.lab.registry
  expect(fetched.map(({ image }) => image)).toEqual([first, second, second])
  expect(fetched.every(({ size }) => size < 2 ** 28)).toBe(true)
})
