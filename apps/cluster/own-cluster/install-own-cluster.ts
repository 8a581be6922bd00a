import { apiVersionOf, createIfAbsent, type BareMetalProviderSpec } from '../../../base/kubernetes/index.js'
import { defined, hours } from '../../../base/runtime/index.js'
import { isInternalReleaseConfig } from '../actors/machine-config-operator/internal-release/internal-release-names.js'
import {
  GENERATED_BY,
  OWN_SETTINGS,
  REQUIRED_FOR_UPGRADE,
  ROLE,
} from '../actors/machine-config-operator/machine-config-names.js'
import { OS_IMAGE_STREAM } from '../admission/stream-policies.js'
import { PROVISIONING, providerSpec, writeInternalRelease, writePlatform } from '../rehearsal/installation.js'
import { MACHINE_API_NAMESPACE, ROLE_LABEL, type RehearsedCluster } from '../rehearsal/rehearsed-cluster.js'
import { keepInside, mirrorImages } from '../rehearsal/prepared-releases.js'
import { waitForObject } from '../rehearsal/object-waits.js'
import { waitUntilSettled } from '../rehearsal/wait-until-settled.js'
import type { ClusterMember, OwnCluster } from './own-cluster.js'
import { createOwnHost, createSpare } from './own-hosts.js'
import { publishNodeImages } from './own-node-images.js'
import type { OwnMachineSet } from './own-objects.js'
import { availableBundles, internalReleaseOf, isBundleOf, stampedConfigs } from './own-internal-release.js'
import { NEXT, NOW } from './own-scenario.js'
import { labelNodes } from './label-nodes.js'
import { defaultStreamOf, installedStream } from './own-streams.js'
import { waitForHosts } from './own-waits.js'

/**
 * Installs a cluster like the user's own: hosts with their hardware, names, machines, pools and MachineConfigs. The state in
 * which it was gathered is made afterwards.
 *
 * @returns a sentence where it cannot be installed
 */
export async function installOwnCluster(own: OwnCluster, rehearsed: RehearsedCluster): Promise<string | null> {
  const { kube } = rehearsed
  await writePlatform(rehearsed, own.isSingleNode)
  await stockRegistries(own, rehearsed)
  await kube.create({
    apiVersion: apiVersionOf('Provisioning'),
    kind: 'Provisioning',
    metadata: { name: PROVISIONING },
    spec: { provisioningNetwork: 'Disabled', ...own.folder.objects.Provisioning[0]?.spec },
  })
  await chooseDefaultStream(own, rehearsed)
  const started = (await waitUntilSettled(rehearsed, 'upgrade')) ?? (await waitForStreams(own, rehearsed))
  if (started !== null) return started
  await writeSettings(own, rehearsed)
  await createPools(own, rehearsed)
  await createConfigs(own, rehearsed)
  await dropStamps(own, rehearsed)
  for (const member of own.members) await createMember(member, own, rehearsed)
  await createSets(own, rehearsed)
  for (const host of own.spares) await createSpare(host, own, rehearsed)
  return (
    (await waitUntilSettled(rehearsed, 'nodes')) ?? (await labelNodes(own, rehearsed)) ?? waitForHosts(own, rehearsed)
  )
}

/** Puts releases where the cluster has them: on its control plane, and in a registry beside it. */
async function stockRegistries(own: OwnCluster, rehearsed: RehearsedCluster): Promise<void> {
  const { site } = rehearsed
  const release = internalReleaseOf(own)
  if (!release || !site.internalRegistry) return
  const [present] = site.internalRegistry.bundles
  const named = release.spec.releases.find(({ name }) => isBundleOf(name, own.version))
  if (present && named) present.name = named.name
  const next = rehearsed.release(NEXT)
  if (availableBundles(release).some((name) => isBundleOf(name, next.version))) keepInside(next.made, next.images, site)
  mirrorImages(next.images, site)
  await writeInternalRelease(
    rehearsed,
    release.spec.releases.map(({ name }) => name),
  )
}

/** Takes the release out of MachineConfigs from which it was removed, so that later operators take them. */
async function dropStamps({ folder }: OwnCluster, { kube }: RehearsedCluster): Promise<void> {
  const stamped = stampedConfigs(folder.objects)
  const free = folder.objects.MachineConfig.filter(
    (config) => isInternalReleaseConfig(config.metadata.name) && !stamped.includes(config),
  )
  for (const { metadata } of free)
    if (await kube.find('MachineConfig', { name: metadata.name }))
      await kube.patch(
        'MachineConfig',
        { name: metadata.name },
        { metadata: { annotations: { [GENERATED_BY]: null } } },
      )
}

/** Gives the machine config operator the settings of the cluster. */
async function writeSettings({ folder }: OwnCluster, { kube }: RehearsedCluster): Promise<void> {
  const { bootImageSkewEnforcement, nodeDisruptionPolicy } = folder.objects.MachineConfiguration[0]?.spec ?? {}
  const spec = defined({ bootImageSkewEnforcement, nodeDisruptionPolicy })
  if (Object.keys(spec).length === 0) return
  await createIfAbsent(() =>
    kube.create<'MachineConfiguration'>({
      apiVersion: apiVersionOf('MachineConfiguration'),
      kind: 'MachineConfiguration',
      metadata: OWN_SETTINGS,
      spec: { managementState: 'Managed' },
    }),
  )
  await kube.patch('MachineConfiguration', OWN_SETTINGS, { spec })
}

/** Creates the OSImageStream with the cluster's default, as the installer does: the operator finds the streams. */
async function chooseDefaultStream({ folder, streams }: OwnCluster, { kube }: RehearsedCluster): Promise<void> {
  const defaultStream = defaultStreamOf(folder.objects)
  if (streams.length === 0 || defaultStream === undefined) return
  await kube.create<'OSImageStream'>({
    apiVersion: apiVersionOf('OSImageStream'),
    kind: 'OSImageStream',
    metadata: OS_IMAGE_STREAM,
    spec: { defaultStream },
  })
}

/** Pools may only ask for streams that the operator has found. */
async function waitForStreams({ streams }: OwnCluster, rehearsed: RehearsedCluster): Promise<string | null> {
  if (streams.length === 0) return null
  const found = { for: 'jsonpath={.status.defaultStream}', kind: 'OSImageStream', ...OS_IMAGE_STREAM }
  return waitForObject(found, rehearsed, hours(1))
}

/** Creates the cluster's pools, or gives those that the operator has created their settings. None is paused yet. */
async function createPools(own: OwnCluster, { kube }: RehearsedCluster): Promise<void> {
  for (const pool of own.pools) {
    const { name, object } = pool
    const { machineConfigSelector, nodeSelector, maxUnavailable } = object.spec
    const spec = defined({
      machineConfigSelector: machineConfigSelector ?? undefined,
      nodeSelector: nodeSelector ?? undefined,
      maxUnavailable,
      osImageStream: installedStream(pool, own),
    })
    const labels = { ...object.metadata.labels, ...(name === 'master' ? { [REQUIRED_FOR_UPGRADE]: '' } : {}) }
    const isThere = (await kube.find('MachineConfigPool', { name })) !== undefined
    if (isThere) await kube.patch('MachineConfigPool', { name }, { metadata: { labels }, spec })
    else
      await kube.create({
        apiVersion: apiVersionOf('MachineConfigPool'),
        kind: 'MachineConfigPool',
        metadata: { name, labels },
        spec,
      })
  }
}

/** Names of the MachineConfigs that the operator makes of its templates. */
const OF_TEMPLATES = /^(00-(master|worker)|01-(master|worker)-(container-runtime|kubelet))$/

/** Creates the cluster's MachineConfigs beside those of the operator's templates. */
async function createConfigs(own: OwnCluster, rehearsed: RehearsedCluster): Promise<void> {
  const { kube } = rehearsed
  const images = publishNodeImages(own, rehearsed)
  for (const { metadata, spec } of own.folder.objects.MachineConfig) {
    const { name, labels, annotations = {} } = metadata
    const isOfRegistry = isInternalReleaseConfig(name)
    if (OF_TEMPLATES.test(name) || labels?.[ROLE] === undefined || (isOfRegistry && internalReleaseOf(own))) continue
    const stamp = isOfRegistry && (annotations[GENERATED_BY] ?? '') !== '' ? own.version : undefined
    await createIfAbsent(() =>
      kube.create<'MachineConfig'>({
        apiVersion: apiVersionOf('MachineConfig'),
        kind: 'MachineConfig',
        metadata: {
          name,
          labels,
          ...defined({ annotations: stamp === undefined ? undefined : { [GENERATED_BY]: stamp } }),
        },
        spec: defined({
          config: spec.config ?? undefined,
          kernelArguments: spec.kernelArguments ?? undefined,
          osImageURL: images.get(spec.osImageURL ?? ''),
        }),
      }),
    )
  }
}

/** Creates the machine sets, which find the machines that they want, and makes them their owners. */
async function createSets(own: OwnCluster, { kube }: RehearsedCluster): Promise<void> {
  for (const set of own.folder.objects.MachineSet) {
    const { name, labels = {} } = set.metadata
    const matchLabels = set.spec.selector.matchLabels ?? {}
    const members = own.members.filter((member) => setOf(member) === name)
    const { metadata } = await kube.create({
      apiVersion: apiVersionOf('MachineSet'),
      kind: 'MachineSet',
      metadata: { name, namespace: MACHINE_API_NAMESPACE, labels },
      spec: {
        replicas: members.length,
        selector: { matchLabels },
        template: {
          metadata: { labels: set.spec.template.metadata?.labels ?? matchLabels },
          spec: { providerSpec: { value: providerOf(set) } },
        },
      },
    })
    const owner = {
      apiVersion: apiVersionOf('MachineSet'),
      kind: 'MachineSet',
      controller: true,
      name,
      uid: metadata.uid,
    }
    for (const member of members)
      await kube.patch(
        'Machine',
        { name: machineNameOf(member), namespace: MACHINE_API_NAMESPACE },
        { metadata: { ownerReferences: [owner] } },
      )
  }
}

/** Settings of a machine set as they are, with the user data of the rehearsal: that of the cluster is a Secret. */
function providerOf({ spec }: OwnMachineSet): BareMetalProviderSpec {
  const { image, hostSelector, customDeploy } = spec.template.spec.providerSpec?.value ?? {}
  return defined({
    image: image?.url ? image : undefined,
    hostSelector,
    customDeploy: customDeploy ?? { method: 'install_coreos' },
    userData: { name: 'worker-user-data' },
  })
}

const setOf = ({ machine }: ClusterMember): string | undefined =>
  machine?.metadata.ownerReferences?.find(({ kind }) => kind === 'MachineSet')?.name

const hostNameOf = ({ host, node }: ClusterMember): string => host?.metadata.name ?? node.metadata.name

const machineNameOf = (member: ClusterMember): string => member.machine?.metadata.name ?? hostNameOf(member)

/** Creates the computer, the host and the machine of a node; the host is to be installed for the machine at once. */
async function createMember(member: ClusterMember, own: OwnCluster, rehearsed: RehearsedCluster): Promise<void> {
  const { node, host, machine, role } = member
  const machineName = machineNameOf(member)
  const value = providerSpec(rehearsed.release(NOW), role, rehearsed)
  const consumerRef = {
    apiVersion: apiVersionOf('Machine'),
    kind: 'Machine',
    name: machineName,
    namespace: MACHINE_API_NAMESPACE,
  }
  await createOwnHost({ name: hostNameOf(member), host, node: node.metadata.name }, own, rehearsed, {
    ...defined({ customDeploy: value.customDeploy, image: value.image?.url ? value.image : undefined }),
    userData: { name: value.userData!.name, namespace: MACHINE_API_NAMESPACE },
    consumerRef,
  })
  await rehearsed.kube.create({
    apiVersion: apiVersionOf('Machine'),
    kind: 'Machine',
    metadata: {
      name: machineName,
      namespace: MACHINE_API_NAMESPACE,
      labels: { ...machine?.metadata.labels, [ROLE_LABEL]: role },
    },
    spec: { providerSpec: { value } },
  })
}
