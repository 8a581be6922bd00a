import { readIgnition } from '../../../ignition/index.js'
import { defined, UserError } from '../../../base/runtime/index.js'
import type { KnownDetails } from '../../../baremetal-operator/index.js'
import { nodeRoleLabel, ROLE } from '../actors/machine-config-operator/machine-config-names.js'
import { mostUnavailable, primaryPool } from '../actors/machine-config-operator/primary-pool.js'
import { isOlder, readVersion } from '../actors/cluster-version-operator/release-version.js'
import { clusterFolderError } from './cluster-folder-error.js'
import type {
  OwnHistoryEntry,
  OwnHost,
  OwnMachine,
  OwnMachineConfig,
  OwnNode,
  OwnObjects,
  OwnPool,
} from './own-objects.js'
import type { ClusterFolder } from './read-cluster-folder.js'
import { streamsOf, type ClusterStream } from './own-streams.js'
import { coreosOfSystem } from './release-names.js'

/** A cluster as its objects describe it. */
export interface OwnCluster {
  folder: ClusterFolder
  /** Name of its infrastructure, or `cluster`. */
  name: string
  /** Version and image of the last release that was rolled out to its end. */
  version: string
  image: string
  /** The version that it was installed with. */
  installed: string
  /** The newest first, without releases that were not rolled out to their end. */
  history: readonly OwnHistoryEntry[]
  /** Version of an upgrade that is under way. */
  upgradingTo?: string
  /** `BareMetal`, `None`, `AWS` ... */
  platform: string
  isSingleNode: boolean
  /** Version of CoreOS that most nodes run, and that of the disk images that new machines are installed from. */
  coreos: string
  base: string
  /** Streams of its release; that of {@link coreos} first. None for a release from before the streams. */
  streams: readonly ClusterStream[]
  pools: readonly ClusterPool[]
  members: readonly ClusterMember[]
  /** Hosts that are no nodes. */
  spares: readonly OwnHost[]
}

export interface ClusterPool {
  name: string
  object: OwnPool
  /** Nodes that may be away at once. */
  most: number
  isPaused: boolean
  /** Names of its nodes, in order. */
  nodes: readonly string[]
}

/** A node with its host and machine, where they are known. */
export interface ClusterMember {
  node: OwnNode
  role: 'master' | 'worker'
  /** Undefined for a node of no pool. */
  pool: string | undefined
  host?: OwnHost
  machine?: OwnMachine
}

/** Releases from before CoreOS was the deploy image are played by scenarios alone. */
const OLDEST_RELEASE = '4.10.0'
const CONTROL_PLANE = ['node-role.kubernetes.io/master', 'node-role.kubernetes.io/control-plane']
/** A version of CoreOS for nodes that say none. */
const UNKNOWN_COREOS = '9.6.20250826-1'

/**
 * Puts the objects of a folder together.
 *
 * @throws UserError `cluster-folder` (usage) for a cluster that cannot be rehearsed
 */
export function ownClusterOf(folder: ClusterFolder): OwnCluster {
  const { objects } = folder
  const { status } = objects.ClusterVersion[0]!
  const completed = status.history.filter(({ state }) => state === 'Completed')
  const [present] = completed
  if (!present)
    throw clusterFolderError('the cluster has not been installed to its end: no release of its history is Completed')
  checkReleases(completed)
  for (const config of objects.MachineConfig) checkConfig(config)
  if (objects.Node.length === 0 && objects.BareMetalHost.length === 0)
    throw clusterFolderError(`${folder.folder} has neither a Node nor a BareMetalHost`, {
      remedy: 'gather again, or add them: oc get nodes -o yaml > FOLDER/nodes.yaml',
    })
  const [first] = status.history
  const infrastructure = objects.Infrastructure[0]?.status
  const members = membersOf(objects)
  checkHosts(members)
  const used = new Set(members.map(({ host }) => host?.metadata.name))
  const streams = streamsOf(objects)
  const [main] = streams
  const coreos = main?.coreos ?? coreosOfNodes(objects)
  const base = main?.base ?? baseOf(objects)
  return {
    folder,
    name: infrastructure?.infrastructureName ?? 'cluster',
    version: present.version,
    image: present.image,
    installed: completed.at(-1)!.version,
    history: completed,
    ...defined({ upgradingTo: first!.state === 'Partial' ? first!.version : undefined }),
    platform: infrastructure?.platformStatus?.type ?? infrastructure?.platform ?? 'unknown',
    isSingleNode: infrastructure?.controlPlaneTopology === 'SingleReplica',
    coreos: coreos ?? base ?? UNKNOWN_COREOS,
    base: base ?? coreos ?? UNKNOWN_COREOS,
    streams,
    pools: poolsOf(objects)
      .map((pool) => poolOf(pool, members))
      .sort(byPlace),
    members,
    spares: objects.BareMetalHost.filter(({ metadata }) => !used.has(metadata.name)),
  }
}

function checkReleases(history: readonly OwnHistoryEntry[]): void {
  const unknown = history.find(({ version }) => !readVersion(version))
  if (unknown) throw clusterFolderError(`the history of the ClusterVersion has ${unknown.version}, which is no version`)
  const { version } = history[0]!
  if (!isOlder(version, OLDEST_RELEASE)) return
  throw clusterFolderError(`the cluster runs ${version}, and rehearsals of clusters begin with ${OLDEST_RELEASE}`, {
    remedy: 'write a scenario for an older release: docs/rehearse.md describes it',
  })
}

/** The daemon and Ignition read a MachineConfig in the rehearsal too. */
function checkConfig({ metadata, spec }: OwnMachineConfig): void {
  if (!spec.config) return
  try {
    readIgnition(spec.config)
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause
    throw clusterFolderError(`the MachineConfig ${metadata.name} cannot be used: ${cause.message}`, { cause })
  }
}

/** A host is one machine: two nodes of it are from two clusters, or from two times. */
function checkHosts(members: readonly ClusterMember[]): void {
  const nodes = new Map<string, string>()
  for (const { node, host } of members) {
    if (!host) continue
    const { name } = node.metadata
    const other = nodes.get(host.metadata.name)
    if (other !== undefined)
      throw clusterFolderError(`the Nodes ${other} and ${name} are both of the BareMetalHost ${host.metadata.name}`, {
        remedy: 'leave out the node that is no longer there',
      })
    nodes.set(host.metadata.name, name)
  }
}

function membersOf(objects: OwnObjects): ClusterMember[] {
  const { Node: nodes, Machine: machines, BareMetalHost: hosts } = objects
  const pools = poolsOf(objects)
  return nodes.map((node) => {
    const { name, labels = {} } = node.metadata
    const machine = machines.find(({ status }) => status?.nodeRef?.name === name)
    const host = hosts.find((one) => isHostOf(one, node, machine, objects))
    const pool = primaryPool(pools, labels)?.metadata.name
    const role = CONTROL_PLANE.some((label) => label in labels) ? 'master' : 'worker'
    return { node, role, pool, ...defined({ host, machine }) }
  })
}

/** True if a host became a node: by its Machine, by the node's provider id, or by the name that its hardware has. */
function isHostOf(
  { metadata, spec, status }: OwnHost,
  node: OwnNode,
  machine: OwnMachine | undefined,
  objects: OwnObjects,
): boolean {
  const { name } = metadata
  const [, known] = /^baremetalhost:\/\/\/[^/]+\/([^/]+)/.exec(node.spec?.providerID ?? '') ?? []
  if (known !== undefined) return known === name
  if (machine && spec.consumerRef) return spec.consumerRef.name === machine.metadata.name
  const hardware = hardwareOf(name, objects)
  return [name, status?.hardware?.hostname, hardware?.hostname].includes(node.metadata.name)
}

/** The hardware that inspection has found of a host. */
export function hardwareOf(host: string, { HardwareData: data }: OwnObjects): KnownDetails | undefined {
  return data.find(({ metadata }) => metadata.name === host)?.spec?.hardware
}

/** The cluster's pools, or the two that each cluster has. */
const poolsOf = ({ MachineConfigPool: pools }: OwnObjects): OwnPool[] =>
  pools.length > 0 ? pools : [plainPool('master'), plainPool('worker')]

const plainPool = (name: string): OwnPool => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfigPool',
  metadata: { name },
  spec: {
    machineConfigSelector: { matchLabels: { [ROLE]: name } },
    nodeSelector: { matchLabels: { [nodeRoleLabel(name)]: '' } },
  },
})

function poolOf(object: OwnPool, members: readonly ClusterMember[]): ClusterPool {
  const { name } = object.metadata
  const nodes = members.filter(({ pool }) => pool === name).map(({ node }) => node.metadata.name)
  return {
    name,
    object,
    most: mostUnavailable(object.spec.maxUnavailable, nodes.length),
    isPaused: object.spec.paused ?? false,
    nodes,
  }
}

/** The control plane first, the workers second; the others stay in the order of their names. */
const byPlace = (a: ClusterPool, b: ClusterPool): number => placeOf(a) - placeOf(b)

const placeOf = ({ name }: ClusterPool): number => (name === 'master' ? 0 : name === 'worker' ? 1 : 2)

/** The version that most nodes run. */
function coreosOfNodes({ Node: nodes }: OwnObjects): string | undefined {
  const counts = new Map<string, number>()
  for (const { status } of nodes) {
    const version = coreosOfSystem(status?.nodeInfo?.osImage ?? '')
    if (version !== undefined) counts.set(version, (counts.get(version) ?? 0) + 1)
  }
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0]
}

/** The version of the disk images for bare metal, by the stream of `coreos-bootimages`. */
function baseOf({ ConfigMap: maps }: OwnObjects): string | undefined {
  const text = maps.find(({ metadata }) => metadata.name === 'coreos-bootimages')?.data?.['stream']
  const [, version] = /"metal"\s*:\s*\{\s*"release"\s*:\s*"([0-9][0-9.]*-[0-9]+)"/.exec(text ?? '') ?? []
  return version
}
