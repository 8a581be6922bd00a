import { hours, seconds } from '../../../base/runtime/index.js'
import { apiVersionOf } from '../../../base/kubernetes/index.js'
import { connectHosts, providerSpec } from './installation.js'
import type { Acted } from './acted.js'
import { MACHINE_API_NAMESPACE, ROLE_LABEL, type RehearsedCluster, type RehearsedHost } from './rehearsed-cluster.js'
import type { HostGroup } from './scenario.js'

/** Installs nodes again: their Machines are deleted, and the machine set, or the administrator, creates new ones. */
export async function reinstall(group: HostGroup, cluster: RehearsedCluster): Promise<Acted> {
  const { kube } = cluster
  const hosts = await cluster.group(group)
  const names = new Set(hosts.map(({ object }) => object?.spec.consumerRef?.name))
  const machines = (await kube.list('Machine')).items.filter(({ metadata }) => names.has(metadata.name))
  const { status } = await kube.get('ClusterVersion', { name: 'version' })
  const release = cluster.releaseOfVersion(status?.history[0]?.version ?? '')
  for (const { metadata } of machines) {
    const at = { name: metadata.name, namespace: MACHINE_API_NAMESPACE }
    await kube.delete('Machine', at)
    if (!(await until(cluster, async () => !(await kube.find('Machine', at)))))
      return { failure: `after a day the machine ${at.name} is still there` }
    if (metadata.ownerReferences?.some(({ kind }) => kind === 'MachineSet')) continue
    const { name, labels = {} } = metadata
    await kube.create({
      apiVersion: apiVersionOf('Machine'),
      kind: 'Machine',
      metadata: { name, namespace: MACHINE_API_NAMESPACE, labels },
      spec: { providerSpec: { value: providerSpec(release, labels[ROLE_LABEL] ?? 'worker', cluster) } },
    })
  }
  return {}
}

const USER_DATA_SECRET = 'bootstrap-user-data'

/** Installs a bootstrap node, whose config the installer writes: it names the node image in a file of its own. */
export async function installBootstrap(key: string, cluster: RehearsedCluster): Promise<Acted> {
  const { kube } = cluster
  const release = cluster.release(key)
  const file = { path: '/etc/pivot/image-pullspec', mode: 0o644 }
  const source = `data:,${encodeURIComponent(`${release.nodeImage}\n`)}`
  const config = { ignition: { version: '3.2.0' }, storage: { files: [{ ...file, contents: { source } }] } }
  await kube.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: USER_DATA_SECRET, namespace: MACHINE_API_NAMESPACE },
    stringData: { userData: JSON.stringify(config) },
  })
  await connectHosts(cluster, 1)
  const value = { ...providerSpec(release, 'bootstrap', cluster), userData: { name: USER_DATA_SECRET } }
  await kube.create({
    apiVersion: apiVersionOf('Machine'),
    kind: 'Machine',
    metadata: { name: 'bootstrap', namespace: MACHINE_API_NAMESPACE, labels: { [ROLE_LABEL]: 'bootstrap' } },
    spec: { providerSpec: { value } },
  })
  const isReady = ({ machine }: RehearsedHost): boolean =>
    machine.boot()?.outcome === 'disk' && (machine.os()?.pivot ?? { state: 'none' }).state === 'done'
  const isThere = await until(cluster, async () => {
    const hosts = await cluster.group('bootstrap')
    return hosts.length > 0 && hosts.every(isReady)
  })
  return isThere ? {} : { failure: 'after a day there is no bootstrap node' }
}

/** Waits in lab time, at most a day. */
function until(cluster: RehearsedCluster, holds: () => Promise<boolean>): Promise<boolean> {
  const { clock } = cluster
  const end = clock.now() + hours(24)
  return cluster.until(
    (async () => {
      while (!(await holds())) {
        if (clock.now() >= end) return false
        await clock.sleep(seconds(5))
      }
      return true
    })(),
  )
}
