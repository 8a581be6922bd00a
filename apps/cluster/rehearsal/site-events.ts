import type { BootEntryPoint } from '../../../machine/index.js'
import { Calls, Unexpected } from '../../../baremetal-operator/index.js'
import type { ApiNode } from '../../../base/wire/index.js'
import { KubeRefusal, type MachineManager } from '../../../base/kubernetes/index.js'
import { POOL_NAMES } from './os-stream-acts.js'
import { BMC_PASSWORD, INSTALLED_BY_THE_RELEASE, networkSecretOf, PROVISIONING } from './installation.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from './rehearsed-cluster.js'
import type { HostGroup, Pool } from './scenario.js'
import { waitUntilSettled } from './wait-until-settled.js'

// Acts of people around a cluster, and accidents there.

/** Writes the right password to the Secrets that the hosts of a group name. */
export async function correctPasswords(of: HostGroup, cluster: RehearsedCluster): Promise<void> {
  for (const { object } of await cluster.group(of)) {
    const { credentialsName = '' } = object?.spec.bmc ?? {}
    const password = Buffer.from(BMC_PASSWORD).toString('base64')
    await cluster.kube.patch(
      'Secret',
      { name: credentialsName, namespace: MACHINE_API_NAMESPACE },
      { data: { password } },
    )
  }
}

/** Writes network settings for each host of a group, others than it had before. */
export async function giveNetworks(of: HostGroup, cluster: RehearsedCluster): Promise<void> {
  const { kube } = cluster
  for (const { name, machine } of await cluster.group(of)) {
    const at = { name: networkSecretOf(name), namespace: MACHINE_API_NAMESPACE }
    const found = await kube.find('Secret', at)
    const number = Number(name.replace(/^\D+/, ''))
    const ip = `192.0.2.${found ? number + 100 : number}`
    const nic = machine.spec.nics[0]!
    const nmstate = JSON.stringify({
      interfaces: [
        {
          name: nic.name,
          type: 'ethernet',
          state: 'up',
          'mac-address': nic.mac,
          ipv4: { enabled: true, dhcp: false, address: [{ ip, 'prefix-length': 24 }] },
        },
      ],
    })
    if (found) await kube.patch('Secret', at, { data: { nmstate: Buffer.from(nmstate).toString('base64') } })
    else await kube.create({ apiVersion: 'v1', kind: 'Secret', metadata: at, stringData: { nmstate } })
    cluster.addresses.set(name, ip)
    const host = { name, namespace: MACHINE_API_NAMESPACE }
    await kube.patch('BareMetalHost', host, { spec: { preprovisioningNetworkDataName: at.name } })
  }
}

/**
 * The manual path of a cluster that was installed by 4.9 or before (openshift-docs PR 109158
 * modules/mco-update-boot-images-ibm-bare-metal.adoc).
 */
export async function clearBootImages(cluster: RehearsedCluster): Promise<void> {
  const { kube } = cluster
  const { customDeploy, image } = INSTALLED_BY_THE_RELEASE
  const value = { customDeploy, image: { ...image, checksumType: null, format: null } }
  for (const { metadata } of (await kube.list('MachineSet')).items) {
    const at = { name: metadata.name, namespace: MACHINE_API_NAMESPACE }
    await kube.patch('MachineSet', at, { spec: { template: { spec: { providerSpec: { value } } } } })
  }
  await kube.patch('Provisioning', { name: PROVISIONING }, { spec: { provisioningOSDownloadURL: '' } })
  await waitUntilSettled(cluster, 'upgrade', 60_000)
}

/** Sets `spec.managedBootImages` of one resource; a refusal is announced in the words of the API. */
export async function askToManage(
  mode: 'All' | 'None',
  resource: MachineManager['resource'],
  cluster: RehearsedCluster,
): Promise<void> {
  const { kube, parts } = cluster
  const at = { name: 'cluster' }
  const before = (await kube.find('MachineConfiguration', at))?.spec.managedBootImages?.machineManagers ?? []
  const machineManagers: MachineManager[] = [
    ...before.filter((manager) => manager.resource !== resource),
    { resource, apiGroup: 'machine.openshift.io', selection: { mode } },
  ]
  try {
    await kube.patch('MachineConfiguration', at, { spec: { managedBootImages: { machineManagers } } })
    // The operator looks at it before anything else happens.
    if (cluster.cloud !== undefined) await waitUntilSettled(cluster, 'time', 1000)
  } catch (error) {
    if (!(error instanceof KubeRefusal)) throw error
    parts.announce({ actor: API_SERVER, does: 'refuses managed boot images', because: error.message })
  }
}

const API_SERVER = 'kube-apiserver'

export async function setPaused(of: Pool, paused: boolean, { kube }: RehearsedCluster): Promise<void> {
  await kube.patch('MachineConfigPool', { name: POOL_NAMES[of] }, { spec: { paused } })
}

/** Asks Ironic to erase the partition tables of hosts: it refuses hosts that are in use. */
export async function askIronicToClean(of: HostGroup, cluster: RehearsedCluster): Promise<void> {
  const clean_steps = [{ interface: 'deploy', step: 'erase_devices_metadata' }]
  for (const { name, object } of await cluster.group(of)) {
    const id = object?.status?.provisioning.ID ?? ''
    try {
      const path = `/nodes/${id}/states/provision`
      await cluster.until(
        inIronic(cluster, (calls) => calls.call('cleans', 'PUT', path, { target: 'clean', clean_steps })),
      )
      cluster.parts.announce({ actor: 'ironic', does: `cleans ${name}` })
    } catch (error) {
      if (!(error instanceof Unexpected)) throw error
      cluster.parts.announce({ actor: 'ironic', does: `refuses to clean ${name}`, because: error.sentence })
    }
  }
}

/** The node of a host by Ironic's account; undefined where it has none. */
export function nodeInIronic(cluster: RehearsedCluster, id: string): Promise<ApiNode | undefined> {
  return inIronic(cluster, (calls) => calls.find<ApiNode>('reads the node', `/nodes/${id}`))
}

async function inIronic<T>({ site }: RehearsedCluster, ask: (calls: Calls) => Promise<T>): Promise<T> {
  const calls = new Calls(site.stage)
  await calls.ready()
  return ask(calls)
}

/** Fills the boot partitions of a group: no further boot entry is written to them. */
export async function fillBoot(of: HostGroup, cluster: RehearsedCluster): Promise<void> {
  const full = new Set((await cluster.group(of)).map(({ machine }) => machine.spec.id))
  const path = '/boot/loader/entries'
  cluster.keep(
    cluster.site.stage.probe.attach<BootEntryPoint>(
      (point, next) =>
        full.has(point.machine) ? Promise.reject(new Error(`${path}: No space left on device`)) : next(),
      ['boot-entry'],
    ),
  )
}
