import { defined } from '../../../base/runtime/index.js'
import { BOOT_IMAGE_UPDATES } from '../actors/machine-config-operator/boot-images/boot-image-sources.js'
import { STREAM_LABEL } from '../actors/image-customization-controller/base-images.js'
import { apiVersionOf, type BareMetalProviderSpec } from '../../../base/kubernetes/index.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from './rehearsed-cluster.js'
import type { PreparedRelease } from './prepared-releases.js'
import type { NewHosts } from './scenario.js'
import { waitUntilSettled } from './wait-until-settled.js'

export const WORKERS = 'workers'
/** Label with the role of a Machine. */
export const ROLE_LABEL = 'machine.openshift.io/cluster-api-machine-role'
const BMC_SECRET = 'bmc-credentials'

/** Installs the cluster of a scenario: its operators, hosts, machine set and nodes. */
export async function installCluster(cluster: RehearsedCluster): Promise<void> {
  const { kube, scenario } = cluster
  const { controlPlane = 0, workers = 0, spares = 0, pinned = false, hostStream } = scenario.cluster
  const release = cluster.release(scenario.cluster.release)
  await kube.create({
    apiVersion: apiVersionOf('Provisioning'),
    kind: 'Provisioning',
    metadata: { name: 'provisioning-configuration' },
    spec: { provisioningNetwork: 'Disabled' },
  })
  await waitUntilSettled(cluster, 'upgrade')
  await connectHosts(cluster, controlPlane + workers + spares, defined({ stream: hostStream }))
  for (let number = 0; number < controlPlane; number++)
    await kube.create({
      apiVersion: apiVersionOf('Machine'),
      kind: 'Machine',
      metadata: { name: `master-${number}`, namespace: MACHINE_API_NAMESPACE, labels: { [ROLE_LABEL]: 'master' } },
      spec: { providerSpec: { value: hostsOf(hostStream, providerSpec(release, 'master')) } },
    })
  const labels = { [ROLE_LABEL]: 'worker', 'machine.openshift.io/cluster-api-machineset': WORKERS }
  await kube.create({
    apiVersion: apiVersionOf('MachineSet'),
    kind: 'MachineSet',
    metadata: {
      name: WORKERS,
      namespace: MACHINE_API_NAMESPACE,
      ...defined({ annotations: pinned ? PINNED : undefined }),
    },
    spec: {
      replicas: workers,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { providerSpec: { value: hostsOf(hostStream, providerSpec(release, 'worker')) } },
      },
    },
  })
  await waitUntilSettled(cluster, 'nodes')
  await waitUntilSettled(cluster, 'spares')
}

/** Settings of machines that claim hosts of a stream alone, as those of the installer do (installer, pull request 10502). */
const hostsOf = (stream: string | undefined, spec: BareMetalProviderSpec): BareMetalProviderSpec =>
  stream === undefined ? spec : { ...spec, hostSelector: { matchLabels: { [STREAM_LABEL]: stream } } }

const PINNED = { [BOOT_IMAGE_UPDATES]: 'None' }

/** Settings with which machines of a role are installed from the boot image of a release. */
export function providerSpec({ bootImage, sha256, method }: PreparedRelease, role: string): BareMetalProviderSpec {
  return {
    ...defined({ customDeploy: method === 'coreos' ? { method: 'install_coreos' } : undefined }),
    image: {
      url: bootImage,
      checksum: sha256,
      checksumType: 'sha256',
      ...defined({ format: method === 'qcow2' ? 'qcow2' : undefined }),
    },
    userData: { name: `${role}-user-data` },
  }
}

/** How computers are connected: as in a step, with the version of the first deploy image that knows them. */
type Connected = Omit<NewHosts, 'connect'>

/** Connects computers, and registers them as hosts. */
export async function connectHosts(
  cluster: RehearsedCluster,
  count: number,
  { supportedSince, password, boots, network, stream }: Connected = {},
): Promise<void> {
  const { kube, site } = cluster
  const { stage } = site
  for (let added = 0; added < count; added++) {
    const number = stage.machines.list().length + 1
    const name = `host-${number}`
    const known = stage.spec(number)
    const bmc = { ...known.bmc!, ...defined({ password: password === undefined ? undefined : BMC_PASSWORD }) }
    const since = supportedSince === undefined ? {} : { supportedSince }
    await cluster.until(stage.machines.create({ ...known, id: name, bmc, ...since }))
    const credentialsName = password === undefined ? BMC_SECRET : `${BMC_SECRET}-of-${name}`
    await bmcSecret(cluster, credentialsName, password)
    const driver = boots === 'network' ? 'redfish' : 'redfish-virtualmedia'
    await kube.create({
      apiVersion: apiVersionOf('BareMetalHost'),
      kind: 'BareMetalHost',
      metadata: {
        name,
        namespace: MACHINE_API_NAMESPACE,
        ...defined({ labels: stream === undefined ? undefined : { [STREAM_LABEL]: stream } }),
      },
      spec: {
        online: true,
        bmc: { address: `${driver}+http://${bmc.address}/redfish/v1/Systems/${bmc.systemId}`, credentialsName },
        bootMACAddress: known.nics[0]!.mac,
        ...defined({ preprovisioningNetworkDataName: network === undefined ? undefined : networkSecretOf(name) }),
      },
    })
  }
}

export const BMC_PASSWORD = 'password'

async function bmcSecret({ kube }: RehearsedCluster, name: string, password = BMC_PASSWORD): Promise<void> {
  const at = { name, namespace: MACHINE_API_NAMESPACE }
  if (await kube.find('Secret', at)) return
  const stringData = { username: 'admin', password }
  await kube.create({ apiVersion: 'v1', kind: 'Secret', metadata: at, type: 'Opaque', stringData })
}

/** Name of the Secret with a host's network settings. */
export const networkSecretOf = (host: string): string => `${host}-network`
