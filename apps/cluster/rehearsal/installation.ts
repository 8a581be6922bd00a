import { defined } from '../../../base/runtime/index.js'
import { NAMES_NO_IMAGE } from '../actors/installer-behaviours.js'
import { BOOT_IMAGE_UPDATES } from '../actors/machine-config-operator/boot-images/boot-image-sources.js'
import {
  INTERNAL_RELEASE,
  REGISTRY_ACCOUNT,
  REGISTRY_TLS,
} from '../actors/machine-config-operator/internal-release/internal-release-names.js'
import { STREAM_LABEL } from '../actors/image-customization-controller/base-images.js'
import { apiVersionOf, type BareMetalProviderSpec, type MachineProviderSpec } from '../../../base/kubernetes/index.js'
import { CLOUD_PLATFORMS, type Cloud } from '../site/cloud-platforms.js'
import { CONTROL_PLANE_MACHINE, MACHINE_API_NAMESPACE, ROLE_LABEL, type RehearsedCluster } from './rehearsed-cluster.js'
import type { PreparedRelease } from './prepared-releases.js'
import type { NewHosts } from './scenario.js'
import { waitUntilSettled } from './wait-until-settled.js'

export const WORKERS = 'workers'
const BMC_SECRET = 'bmc-credentials'

/** Installs the cluster of a scenario: its operators, hosts, machine set and nodes. */
export async function installCluster(cluster: RehearsedCluster): Promise<void> {
  const { kube, scenario, parts } = cluster
  const { controlPlane = 0, workers = 0, spares = 0, pinned = false, bootIsoSource, hostStream } = scenario.cluster
  const release = cluster.release(scenario.cluster.release)
  await writePlatform(cluster, controlPlane === 1 && workers === 0)
  await writeInternalRelease(cluster)
  if (cluster.cloud !== undefined) publishOwnImage(cluster, cluster.cloud)
  else
    await kube.create({
      apiVersion: apiVersionOf('Provisioning'),
      kind: 'Provisioning',
      metadata: { name: PROVISIONING },
      spec: {
        provisioningNetwork: 'Disabled',
        ...defined({ provisioningOSDownloadURL: osDownloadUrl(release), bootIsoSource }),
      },
    })
  await waitUntilSettled(cluster, 'upgrade')
  if (cluster.cloud === undefined)
    await connectHosts(cluster, controlPlane + workers + spares, defined({ stream: hostStream }))
  for (let number = 0; number < controlPlane; number++)
    await kube.create({
      apiVersion: apiVersionOf('Machine'),
      kind: 'Machine',
      metadata: { name: `master-${number}`, namespace: MACHINE_API_NAMESPACE, labels: { [ROLE_LABEL]: 'master' } },
      spec: { providerSpec: { value: providerSpec(release, 'master', cluster) } },
    })
  if (cluster.cloud !== undefined && CONTROL_PLANE_SIZES.includes(controlPlane))
    await createControlPlaneSet(cluster, controlPlane)
  const labels = { [ROLE_LABEL]: 'worker', 'machine.openshift.io/cluster-api-machineset': WORKERS }
  await kube.create({
    apiVersion: apiVersionOf('MachineSet'),
    kind: 'MachineSet',
    metadata: {
      name: WORKERS,
      namespace: MACHINE_API_NAMESPACE,
      ...defined({ annotations: pinned && parts.behaviours.as === 'document' ? PINNED : undefined }),
    },
    spec: {
      replicas: workers,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { providerSpec: { value: providerSpec(release, 'worker', cluster) } } },
    },
  })
  await waitUntilSettled(cluster, 'nodes')
  await waitUntilSettled(cluster, 'spares')
}

/** Numbers of machines that a ControlPlaneMachineSet may have. */
const CONTROL_PLANE_SIZES: readonly number[] = [3, 5]

/** The ControlPlaneMachineSet that the installer writes on a cloud, over the machines that are there. */
async function createControlPlaneSet(cluster: RehearsedCluster, replicas: number): Promise<void> {
  const release = cluster.release(cluster.scenario.cluster.release)
  const labels = {
    [ROLE_LABEL]: 'master',
    'machine.openshift.io/cluster-api-machine-type': 'master',
    'machine.openshift.io/cluster-api-cluster': 'rehearsal',
  }
  await cluster.kube.create({
    apiVersion: apiVersionOf('ControlPlaneMachineSet'),
    kind: 'ControlPlaneMachineSet',
    metadata: { name: 'cluster', namespace: MACHINE_API_NAMESPACE },
    spec: {
      state: 'Active',
      replicas,
      strategy: { type: 'OnDelete' },
      selector: { matchLabels: labels },
      template: {
        machineType: CONTROL_PLANE_MACHINE,
        [CONTROL_PLANE_MACHINE]: {
          metadata: { labels },
          spec: { providerSpec: { value: providerSpec(release, 'master', cluster) } },
        },
      },
    },
  })
}

/** Publishes an image of the user's own on a cloud: a copy of that of the first release. */
function publishOwnImage(cluster: RehearsedCluster, cloud: Cloud): void {
  const { cloudImage } = cluster.release(cluster.scenario.cluster.release)
  cluster.site.cloud.copy(cloudImage!, CLOUD_PLATFORMS[cloud].own)
}

const PINNED = { [BOOT_IMAGE_UPDATES]: 'None' }

export const PROVISIONING = 'provisioning-configuration'

/** Disk image that the installer of 4.9 and before writes into the Provisioning; later ones leave it out. */
const osDownloadUrl = ({ method, bootImage, sha256 }: PreparedRelease): string | undefined =>
  method === 'qcow2' ? `${bootImage}?sha256=${sha256}` : undefined

/** The Infrastructure of the installer, by which operators know the platform. */
export async function writePlatform({ kube, cloud, site }: RehearsedCluster, isSingle: boolean): Promise<void> {
  const internal = site.internalRegistry
  const type = cloud ?? 'BareMetal'
  const created = await kube.create<'Infrastructure'>({
    apiVersion: apiVersionOf('Infrastructure'),
    kind: 'Infrastructure',
    metadata: { name: 'cluster' },
    spec: { platformSpec: { type } },
  })
  const topology = isSingle ? 'SingleReplica' : 'HighlyAvailable'
  await kube.updateStatus<'Infrastructure'>({
    ...created,
    status: {
      platformStatus: { type },
      platform: type,
      infrastructureName: 'rehearsal',
      controlPlaneTopology: topology,
      infrastructureTopology: 'HighlyAvailable',
      ...defined({ apiServerInternalURI: internal && `https://api-int.${internal.domain}:6443` }),
    },
  })
}

/** The release that the control plane serves, with what its registries need, as the installer without a registry writes them. */
export async function writeInternalRelease({ kube, site }: RehearsedCluster, names?: readonly string[]): Promise<void> {
  const { internalRegistry } = site
  if (!internalRegistry) return
  const bundles = names ?? internalRegistry.bundles.map(({ name }) => name)
  const secrets = [
    { metadata: REGISTRY_TLS, stringData: { 'tls.crt': 'certificate of the lab\n', 'tls.key': 'key of the lab\n' } },
    { metadata: REGISTRY_ACCOUNT, stringData: { password: BMC_PASSWORD, htpasswd: 'openshift:account of the lab\n' } },
  ]
  for (const secret of secrets) await kube.create({ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', ...secret })
  await kube.create({
    apiVersion: apiVersionOf('InternalReleaseImage'),
    kind: 'InternalReleaseImage',
    metadata: INTERNAL_RELEASE,
    spec: { releases: bundles.map((name) => ({ name })) },
  })
}

/** Settings with which machines of a role are installed, as the installer of a release writes them. */
export function providerSpec(
  release: PreparedRelease,
  role: string,
  { scenario, parts, cloud }: Pick<RehearsedCluster, 'scenario' | 'parts' | 'cloud'>,
): MachineProviderSpec {
  const { hostStream, pinned } = scenario.cluster
  if (cloud !== undefined) {
    const { own, settings } = CLOUD_PLATFORMS[cloud]
    return { ...settings(pinned === true ? own : release.cloudImage!), userDataSecret: { name: `${role}-user-data` } }
  }
  const claimed = {
    userData: { name: `${role}-user-data` },
    // The installer's own since pull request 10502: machine sets claim hosts of their stream alone.
    ...defined({
      hostSelector: hostStream === undefined ? undefined : { matchLabels: { [STREAM_LABEL]: hostStream } },
    }),
  }
  const leavesOut = parts.behaviours.of(release.version).has(NAMES_NO_IMAGE) && pinned !== true
  return leavesOut && release.method === 'coreos'
    ? { ...INSTALLED_BY_THE_RELEASE, ...claimed }
    : { ...namedBootImage(release), ...claimed }
}

/** A machine that the deploy image installs from itself. */
export const INSTALLED_BY_THE_RELEASE: BareMetalProviderSpec = {
  customDeploy: { method: 'install_coreos' },
  image: { url: '', checksum: '' },
}

/** Settings of a machine set that name the boot image of a release, as an administrator writes them. */
export function bootImageSettings(release: PreparedRelease, { cloud }: RehearsedCluster): MachineProviderSpec {
  if (cloud !== undefined) return CLOUD_PLATFORMS[cloud].settings(release.cloudImage!)
  const { image } = namedBootImage(release)
  return defined({ image })
}

/** A machine that is installed from the boot image of a release, by its name. */
const namedBootImage = ({ bootImage, sha256, method }: PreparedRelease): BareMetalProviderSpec => ({
  ...defined({ customDeploy: method === 'coreos' ? { method: 'install_coreos' } : undefined }),
  image: {
    url: bootImage,
    checksum: sha256,
    checksumType: 'sha256',
    ...defined({ format: method === 'qcow2' ? 'qcow2' : undefined }),
  },
})

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
