import { reachesRelease } from '../../../base/kubernetes/index.js'
import { countText } from '../../../base/runtime/index.js'
import { isOlder, isSameMinor } from '../actors/cluster-version-operator/release-version.js'
import { KEEPS_REGISTRY_STAMP } from '../actors/machine-config-operator/machine-config-behaviours.js'
import {
  internalReleaseConfig,
  isInternalReleaseConfig,
  staleRegistry,
} from '../actors/machine-config-operator/internal-release/internal-release-names.js'
import { GENERATED_BY, ROLES } from '../actors/machine-config-operator/machine-config-names.js'
import { skewEnforcement, skewProblem } from '../actors/machine-config-operator/boot-images/boot-image-skew.js'
import {
  missingDefault,
  missingStream,
  STREAM_AND_IMAGE,
} from '../actors/machine-config-operator/streams/os-streams.js'
import type { ClusterMember, ClusterPool, OwnCluster } from './own-cluster.js'
import type {
  OwnClusterOperator,
  OwnCondition,
  OwnDisruptionBudget,
  OwnHost,
  OwnMachine,
  OwnMachineSet,
  SkewEnforcement,
} from './own-objects.js'
import {
  availableBundles,
  hasRegistryBeside,
  internalReleaseOf,
  isBundleOf,
  stampedConfigs,
} from './own-internal-release.js'
import { internalMirrorsOf } from './own-scenario.js'
import { nodeImageConfig } from './node-image-config.js'
import { defaultStreamOf, wantedStreamOf } from './own-streams.js'
import { skippedMinors } from './release-names.js'

/** Something about a cluster that its upgrade meets. */
export interface ClusterFinding {
  /**
   * `blocks`: the upgrade does not begin, or does not end. `holds back`: a part of the cluster stays as it is. `blocks later`:
   * the upgrade after this one does not begin. `warns`: it goes on, with what the sentence says.
   */
  effect: 'blocks' | 'holds back' | 'blocks later' | 'warns'
  /** `MachineConfigPool infra` */
  subject: string
  /** The state and its consequence. */
  says: string
}

interface FindingsInput {
  cluster: OwnCluster
  /** Version that the cluster is to go to. */
  to: string
  /** Streams of that release; undefined for one from before the streams. */
  streams?: readonly string[]
}

const conditionIn = (conditions: readonly OwnCondition[] | null | undefined, type: string): OwnCondition | undefined =>
  conditions?.find((one) => one.type === type)

const reasonOf = ({ reason = '', message = '' }: OwnCondition): string => message || reason || 'it does not say why'

/** Obstacles of an upgrade, by the objects of the cluster. */
export function clusterFindings(input: FindingsInput): ClusterFinding[] {
  const { cluster } = input
  const { objects } = cluster.folder
  const skew = skewFindings(input)
  const operators = objects.ClusterOperator.flatMap((operator) => operatorFindings(operator, input, skew.length > 0))
  return [
    ...jumpFindings(input),
    ...versionFindings(input, [...operators, ...skew]),
    ...operators,
    ...skew,
    ...internalReleaseFindings(input),
    ...stampFindings(input),
    ...streamFindings(input),
    ...cluster.pools.flatMap((pool) => imageFindings(pool, input)),
    ...cluster.pools.flatMap((pool) => poolFindings(pool, input)),
    ...cluster.members.flatMap((member) => nodeFindings(member, cluster)),
    ...objects.BareMetalHost.flatMap((host) => hostFindings(host, cluster)),
    ...objects.Machine.flatMap(machineFindings),
    ...objects.MachineSet.flatMap((set) => setFindings(set, objects.Machine)),
    ...objects.PodDisruptionBudget.flatMap(budgetFindings),
  ]
}

function jumpFindings({ cluster, to }: FindingsInput): ClusterFinding[] {
  const skipped = skippedMinors(cluster.version, to)
  if (skipped === 0) return []
  const says = `${to} passes over ${countText(skipped, 'minor release')} after ${cluster.version}: upgrades go from one minor release to the next, so rehearse the next one first`
  return [{ effect: 'blocks', subject: 'ClusterVersion version', says }]
}

/** @param known findings on operators: the ClusterVersion repeats what they say */
function versionFindings({ cluster, to }: FindingsInput, known: readonly ClusterFinding[]): ClusterFinding[] {
  const { spec, status } = cluster.folder.objects.ClusterVersion[0]!
  const subject = 'ClusterVersion version'
  const found: ClusterFinding[] = []
  const upgradeable = conditionIn(status.conditions, 'Upgradeable')
  const isPatch = isSameMinor(cluster.version, to)
  const isRepeated = known.some(({ says }) => says.includes('not upgradeable'))
  if (upgradeable?.status === 'False' && !isRepeated)
    found.push({ effect: isPatch ? 'warns' : 'blocks', subject, says: `is not upgradeable: ${reasonOf(upgradeable)}` })
  const unmanaged = spec.overrides?.filter((one) => one.unmanaged) ?? []
  if (unmanaged.length > 0)
    found.push({
      effect: isPatch ? 'warns' : 'blocks',
      subject,
      says: `has overrides for ${unmanaged.map(({ kind, name }) => `${kind} ${name}`).join(', ')}: they forbid another minor release`,
    })
  const failing = conditionIn(status.conditions, 'Failing')
  if (failing?.status === 'True') found.push({ effect: 'warns', subject, says: `is failing: ${reasonOf(failing)}` })
  const accepted = conditionIn(status.conditions, 'ReleaseAccepted')
  if (accepted?.status === 'False')
    found.push({ effect: 'warns', subject, says: `has refused a release: ${reasonOf(accepted)}` })
  if (cluster.upgradingTo !== undefined)
    found.push({
      effect: 'warns',
      subject,
      says: `was gathered during the upgrade to ${cluster.upgradingTo}, which is rehearsed from its beginning`,
    })
  return found
}

/** @param hasSkew true if the age of boot images is a finding of its own */
function operatorFindings(
  { metadata, status }: OwnClusterOperator,
  { cluster, to }: FindingsInput,
  hasSkew: boolean,
): ClusterFinding[] {
  const subject = `ClusterOperator ${metadata.name}`
  const found: ClusterFinding[] = []
  const upgradeable = conditionIn(status?.conditions, 'Upgradeable')
  const isSkew = hasSkew && upgradeable?.reason === 'ClusterBootImageSkewError'
  if (upgradeable?.status === 'False' && !isSkew)
    found.push({
      effect: isSameMinor(cluster.version, to) ? 'warns' : 'blocks',
      subject,
      says: `is not upgradeable: ${reasonOf(upgradeable)}`,
    })
  const available = conditionIn(status?.conditions, 'Available')
  if (available?.status === 'False')
    found.push({ effect: 'blocks', subject, says: `is not available, so the upgrade waits: ${reasonOf(available)}` })
  const degraded = conditionIn(status?.conditions, 'Degraded')
  if (degraded?.status === 'True')
    found.push({
      effect: 'blocks',
      subject,
      says: `is degraded: the upgrade waits for it, and is failing after 40 minutes: ${reasonOf(degraded)}`,
    })
  return found
}

/** The release from which machine-config refuses upgrades with old boot images: its gate is on by default. */
const SKEW_ENFORCED_SINCE = '4.22.0'

function skewFindings({ cluster, to }: FindingsInput): ClusterFinding[] {
  const problem = skewProblem(enforcementOf(cluster), cluster.version)
  if (problem === undefined) return []
  const isLegacy = hasOldImage(cluster)
  const subject = isLegacy ? 'Provisioning provisioning-configuration' : 'MachineConfiguration cluster'
  const cause = isLegacy ? 'names an old boot image (provisioningOSDownloadURL)' : 'counts boot images as too old'
  const isEnforced = !isOlder(cluster.version, SKEW_ENFORCED_SINCE)
  if (isEnforced && !isSameMinor(cluster.version, to))
    return [{ effect: 'blocks', subject, says: `${cause}, so machine-config is not upgradeable: ${problem}` }]
  const since = isEnforced ? cluster.version : isOlder(to, SKEW_ENFORCED_SINCE) ? SKEW_ENFORCED_SINCE : to
  return [
    {
      effect: 'blocks later',
      subject,
      says: `${cause}: from ${since} on machine-config is not upgradeable: ${problem}`,
    },
  ]
}

/** True if the Provisioning names a disk image, as in a cluster that was installed by 4.9 or before. */
const hasOldImage = ({ folder }: OwnCluster): boolean =>
  (folder.objects.Provisioning[0]?.spec?.provisioningOSDownloadURL ?? '') !== ''

/** Findings of the operator, or those that it would have on bare metal; undefined for other platforms. */
function enforcementOf(cluster: OwnCluster): SkewEnforcement | undefined {
  const { folder, platform, installed } = cluster
  const [configuration] = folder.objects.MachineConfiguration
  const known = configuration?.status?.bootImageSkewEnforcementStatus
  if (known || platform !== 'BareMetal') return known
  const spec = { managementState: 'Managed' as const, ...configuration?.spec }
  const topology = cluster.isSingleNode ? 'SingleReplica' : undefined
  const isLegacy = hasOldImage(cluster) || folder.objects.Provisioning.length === 0
  return skewEnforcement({ spec, platform, topology, isLegacy, installed })
}

function poolFindings(pool: ClusterPool, { cluster, to }: FindingsInput): ClusterFinding[] {
  const { name, object, nodes, isPaused } = pool
  const subject = `MachineConfigPool ${name}`
  const found: ClusterFinding[] = []
  if (isPaused && nodes.length > 0) {
    const stays = `is paused: ${countText(nodes.length, 'node')} ${nodes.length === 1 ? 'stays' : 'stay'} on ${cluster.version}`
    found.push(
      name === 'master'
        ? { effect: 'blocks', subject, says: `${stays}, and the upgrade waits for the control plane` }
        : {
            effect: 'holds back',
            subject,
            says: `${stays} until it is resumed: oc patch mcp/${name} --type merge -p '{"spec":{"paused":false}}'`,
          },
    )
  }
  const wanted = object.spec.configuration?.name
  const present = object.status?.configuration?.name
  const degraded = ['Degraded', 'NodeDegraded', 'RenderDegraded']
    .map((type) => conditionIn(object.status?.conditions, type))
    .find((one) => one?.status === 'True')
  if (degraded)
    found.push({
      effect: isSameMinor(cluster.version, to) ? 'holds back' : 'blocks',
      subject,
      says: `is degraded, so machine-config is not upgradeable: ${reasonOf(degraded)}`,
    })
  else if (wanted !== undefined && present !== undefined && wanted !== present)
    found.push({
      effect: 'warns',
      subject,
      says: `has not finished its last update: it runs ${present} and is to run ${wanted}; it is rehearsed as if it had`,
    })
  return found
}

/** The release image that the control plane serves: another release has to come from a registry beside it. */
function internalReleaseFindings({ cluster, to }: FindingsInput): ClusterFinding[] {
  const release = internalReleaseOf(cluster)
  if (!release) return []
  const subject = 'InternalReleaseImage cluster'
  const bundles = availableBundles(release)
  const found: ClusterFinding[] = []
  if (!bundles.some((name) => isBundleOf(name, to)) && !hasRegistryBeside(internalMirrorsOf(cluster)))
    found.push({
      effect: 'blocks',
      subject,
      says: `does not have ${to}${bundles.length === 0 ? '' : `, but ${bundles.join(', ')}`}, and no mirror set names a registry beside the control plane: the version operator cannot retrieve it. Copy it to a registry of your own, and add that to the mirror sets, before`,
    })
  const degraded = conditionIn(release.status?.conditions, 'Degraded')
  if (degraded?.status === 'True')
    found.push({
      effect: degraded.reason === 'ApiIntNotAvailable' ? 'holds back' : 'warns',
      subject,
      says: `is degraded: ${reasonOf(degraded)}`,
    })
  const missing = release.spec.releases.filter(({ name }) => release.status && !bundles.includes(name))
  if (missing.length > 0 && degraded?.status !== 'True')
    found.push({
      effect: 'warns',
      subject,
      says: `asks for ${missing.map(({ name }) => name).join(', ')}: The specified release image is not available`,
    })
  return found
}

/** MachineConfigs of the internal registry keep the operator that made them, also after the registry has been given up. */
function stampFindings({ cluster, to }: FindingsInput): ClusterFinding[] {
  const { objects } = cluster.folder
  const known = stampedConfigs(objects).map(({ metadata }) => metadata.name)
  const isUnknown = internalReleaseOf(cluster) !== undefined && !objects.MachineConfig.some(isOfRegistry)
  const names = isUnknown ? ROLES.map((role) => internalReleaseConfig(role)) : known
  const [first] = names
  if (first === undefined || !reachesRelease(cluster.version, KEEPS_REGISTRY_STAMP.since!)) return []
  return [
    {
      effect: 'blocks',
      subject: `MachineConfig ${first}`,
      says: `keeps the stamp of the operator that made it: no pool is rendered by that of ${to} (RenderDegraded), machine-config is degraded, and the upgrade waits: ${staleRegistry(first, cluster.version, to)}. Remove the stamp before: oc annotate mc ${names.join(' ')} ${GENERATED_BY}-`,
    },
  ]
}

const isOfRegistry = ({ metadata }: { metadata: { name: string } }): boolean => isInternalReleaseConfig(metadata.name)

/** Streams that are asked for, and that the release no longer has: machine-config then waits, and the upgrade with it. */
function streamFindings({ cluster, to, streams: brought }: FindingsInput): ClusterFinding[] {
  const { objects } = cluster.folder
  if (brought === undefined || cluster.streams.length === 0) return []
  const found: ClusterFinding[] = []
  const shared = brought.filter((name) => cluster.streams.some((own) => own.name === name))
  const choice =
    shared.length === 0
      ? `${cluster.version} has none of its streams to choose before`
      : `Choose ${shared.join(' or ')} before`
  const chosen = defaultStreamOf(objects)
  if (chosen !== undefined && !brought.includes(chosen))
    found.push({
      effect: 'blocks',
      subject: 'OSImageStream cluster',
      says: `has the default ${chosen}, which ${to} does not bring: no pool is rendered, and the upgrade waits: ${missingDefault(chosen, brought)}. ${choice} (spec.defaultStream)`,
    })
  for (const { name, object } of cluster.pools) {
    const wanted = wantedStreamOf(object, objects)
    if (wanted === undefined || wanted === chosen || brought.includes(wanted)) continue
    const isOwn = object.spec.osImageStream !== undefined
    found.push({
      effect: 'blocks',
      subject: `MachineConfigPool ${name}`,
      says: `${isOwn ? 'asks' : 'asks with pool worker'} for stream ${wanted}, which ${to} does not bring: it is not rendered (RenderDegraded), machine-config is degraded, and the upgrade waits: ${missingStream(name, wanted)}. ${choice} (spec.osImageStream)`,
    })
  }
  return found
}

/** A pool whose nodes run an image of the user's own: its updates are theirs, and not those of the release. */
function imageFindings({ name, object, nodes }: ClusterPool, { cluster, to }: FindingsInput): ClusterFinding[] {
  const config = nodeImageConfig(object, cluster.folder.objects)
  if (!config) return []
  const subject = `MachineConfigPool ${name}`
  const image = `the node image ${config.spec.osImageURL} of MachineConfig ${config.metadata.name}`
  const found: ClusterFinding[] = []
  if (nodes.length > 0)
    found.push({
      effect: 'holds back',
      subject,
      says: `runs ${image}: its ${countText(nodes.length, 'node')} ${nodes.length === 1 ? 'gets' : 'get'} no node image of ${to}, and ${nodes.length === 1 ? 'is' : 'are'} rebooted only if the rest of the configuration changes; build the next image on that of ${to}, and name it there`,
    })
  const { osImageStream } = object.spec
  if (osImageStream && cluster.streams.length > 0)
    found.push({
      effect: 'blocks',
      subject,
      says: `asks for stream ${osImageStream.name}, and for ${image}: it is not rendered (RenderDegraded), machine-config is degraded, and the upgrade waits: ${STREAM_AND_IMAGE}. Leave out one of the two before`,
    })
  return found
}

function nodeFindings({ node, pool }: ClusterMember, { pools }: OwnCluster): ClusterFinding[] {
  const { name } = node.metadata
  const subject = `Node ${name}`
  const isReady = conditionIn(node.status?.conditions, 'Ready')?.status !== 'False'
  const isUnknown = conditionIn(node.status?.conditions, 'Ready')?.status === 'Unknown'
  const isAway = !isReady || isUnknown || node.spec?.unschedulable === true
  if (pool === undefined)
    return [{ effect: 'holds back', subject, says: 'belongs to no pool, or to several custom ones: it is not updated' }]
  if (!isAway) return []
  const own = pools.find((one) => one.name === pool)
  const why = node.spec?.unschedulable === true ? 'is cordoned' : 'is not ready'
  const most = own?.most ?? 1
  const is = `${why}, and counts as one of ${most} that may be away in pool ${pool}`
  return most <= 1
    ? [
        {
          effect: pool === 'master' ? 'blocks' : 'holds back',
          subject,
          says: `${is}: no other node of the pool is updated`,
        },
      ]
    : [{ effect: 'warns', subject, says: is }]
}

const SETTLED_STATES = ['available', 'ready', 'provisioned', 'externally provisioned', '']

function hostFindings({ metadata, spec, status }: OwnHost, { members }: OwnCluster): ClusterFinding[] {
  const { name } = metadata
  const subject = `BareMetalHost ${name}`
  const state = status?.provisioning?.state ?? ''
  const member = members.find(({ host }) => host?.metadata.name === name)
  const follows = member
    ? `its node ${member.node.metadata.name} is updated all the same, for that needs no BMC; it cannot be installed again`
    : 'it gets no deploy image of the new release, and cannot become a node'
  if ((status?.errorType ?? '') !== '' || status?.operationalStatus === 'error') {
    const what = `${status?.errorType || 'an error'}${status?.errorMessage ? `: ${status.errorMessage}` : ''}`
    return [{ effect: 'holds back', subject, says: `is ${state || 'not registered'} with ${what}; ${follows}` }]
  }
  const left = ['paused', 'detached'].find(
    (word) => metadata.annotations?.[`baremetalhost.metal3.io/${word}`] !== undefined,
  )
  if (left !== undefined)
    return [{ effect: 'warns', subject, says: `is ${left}: BareMetal Operator leaves it as it is, in the upgrade too` }]
  if (state === 'unmanaged' || spec.bmc === undefined)
    return member ? [] : [{ effect: 'warns', subject, says: `is unmanaged: it has no BMC, and stays as it is` }]
  if (SETTLED_STATES.includes(state)) return []
  return [
    {
      effect: 'warns',
      subject,
      says: `is ${state}: Ironic is restarted in the upgrade and forgets it, so that this begins again`,
    },
  ]
}

function machineFindings({ metadata, status }: OwnMachine): ClusterFinding[] {
  if (status?.phase !== 'Failed') return []
  const says = `has failed${status.errorMessage ? `: ${status.errorMessage}` : ''}; it is not tried again`
  return [{ effect: 'warns', subject: `Machine ${metadata.name}`, says }]
}

function setFindings({ metadata, spec }: OwnMachineSet, machines: readonly OwnMachine[]): ClusterFinding[] {
  const { name } = metadata
  const own = machines.filter((machine) =>
    machine.metadata.ownerReferences?.some((owner) => owner.kind === 'MachineSet' && owner.name === name),
  )
  const wanted = spec.replicas ?? 1
  if (wanted === own.length) return []
  const says = `wants ${countText(wanted, 'machine')} and has ${own.length}: it is rehearsed with those that it has`
  return [{ effect: 'warns', subject: `MachineSet ${name}`, says }]
}

/**
 * A budget that lets no pod go: the drain of a node with one of them is tried again for an hour, and then degrades the pool
 * (machine-config-operator 7ff337a pkg/controller/drain/drain_controller.go).
 */
function budgetFindings({ metadata, status = {} }: OwnDisruptionBudget): ClusterFinding[] {
  const { disruptionsAllowed, expectedPods = 0, currentHealthy = 0, desiredHealthy = 0 } = status
  if (disruptionsAllowed !== 0 || expectedPods === 0) return []
  const says =
    `allows no pod to be moved (${currentHealthy} of ${expectedPods} are healthy, and ${desiredHealthy} have to be): ` +
    'a node with one of them is not drained, and after an hour its pool is degraded'
  return [{ effect: 'holds back', subject: `PodDisruptionBudget ${metadata.namespace ?? ''}/${metadata.name}`, says }]
}
