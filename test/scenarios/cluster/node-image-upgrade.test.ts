import { afterAll, beforeAll, expect, test } from 'vitest'
import { operatedCluster, type Installation } from '../../kit/cluster/operated-cluster.js'
import { bootImageServer, streamOf, type BootImageServer } from '../../kit/cluster/boot-images.js'

const BASE = '9.6.20250826.1'
let server: BootImageServer
let base: Installation
beforeAll(async () => {
  server = await bootImageServer([BASE])
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
  const [boots] = [machine.boot()!.id]
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
