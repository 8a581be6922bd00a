import { describe, expect, test } from 'vitest'
import { clusterSite, NAMESPACE } from '../../kit/cluster-site.js'

const [A, B] = ['38.20230718.3.0', '39.20240101.3.0']
const UPGRADED = [
  'starts cluster-baremetal-operator',
  'starts metal3-image-customization',
  'starts metal3',
  'starts metal3-baremetal-operator',
]

describe('a release with another deploy image', () => {
  test('the image service is updated before Ironic, and Ironic starts with an empty database', async () => {
    await using cluster = await clusterSite()
    await cluster.install(await cluster.release('4.12.0', A))
    const before = await cluster.image('worker-0')
    expect(await cluster.isoVersion(before)).toBe(A)
    const { stage } = cluster.site
    await cluster.clock.until(stage.enroll(stage.spec(1)))
    const next = await cluster.release('4.13.0', B)
    const served: unknown[] = []
    const { kube } = cluster
    cluster.parts.announce = () => {}
    const { start } = stage.ironic
    stage.ironic.start = async () => {
      const { status } = await kube.get('PreprovisioningImage', { name: 'worker-0', namespace: NAMESPACE })
      served.push(await cluster.isoVersion(status!.imageUrl!))
      return start.call(stage.ironic)
    }
    cluster.notices.length = 0
    await cluster.ask({ version: '4.13.0', image: next.image })
    await cluster.completed('4.13.0')
    expect(served).toEqual([B])
    expect(await stage.client.nodes()).toEqual([])
    const after = await kube.get('PreprovisioningImage', { name: 'worker-0', namespace: NAMESPACE })
    expect(after.status!.imageUrl).not.toBe(before)
    await expect(cluster.isoVersion(before)).rejects.toThrow('404')
    expect(cluster.said().filter((line) => line.startsWith('starts'))).toEqual(UPGRADED)
  })
})
