import type { ClusterFinding } from './cluster-findings.js'

/** Report of a rehearsed upgrade of the user's own cluster, as `--json` prints it. Times are lab time. */
export interface UpgradeReport {
  event: 'report'
  /** Name of the cluster. */
  scenario: string
  actor: 'rehearsal'
  cluster: {
    from: string
    to: string
    installed: string
    platform: string
    nodes: number
    hosts: number
    pools: number
  }
  /** `completed`, or the state in which the upgrade was left. */
  outcome: 'completed' | 'not completed' | 'refused'
  /** The version operator's message where it has refused the release at first; then it was forced. */
  refusal: string | null
  /** Seconds from the request to the end of the upgrade, and until all nodes that follow it run the release. */
  seconds: { upgrade: number | null; nodes: number }
  findings: readonly ClusterFinding[]
  pools: readonly PoolReport[]
  /** Streams of CoreOS of both releases; none where neither has any. */
  streams: readonly StreamReport[]
  hosts: HostsReport
  pulled: PulledReport
  /** Consequences of changes of files, units and keys: those of the cluster's own policies, and those of any cluster. */
  disruption: readonly { of: string; does: string; isOwn: boolean }[]
  /** Kinds that are not played, with the number of their objects. */
  notPlayed: Readonly<Record<string, number>>
  notes: readonly string[]
}

/** The nodes of a pool in the upgrade. */
export interface PoolReport {
  pool: string
  nodes: number
  paused: boolean
  /** True if the pool asks for a configuration of the release. */
  rendered: boolean
  /** Nodes that may be away at once, and the most that were. */
  maxUnavailable: number
  atOnce: number
  /** Nodes in the order of their reboots, with seconds since the request; a node may be there again. */
  reboots: readonly { node: string; at: number }[]
  /** Nodes that do not run the release at the end. */
  behind: readonly string[]
  /** Streams that its nodes run before and at the end: several while they differ; none in a release without streams. */
  streams: { before: readonly string[]; after: readonly string[] }
}

/** A stream of CoreOS in the upgrade. */
export interface StreamReport {
  stream: string
  /** Version of its node image in each of the two releases; null in a release that does not bring it. */
  from: string | null
  to: string | null
  /** True for the stream of pools that name none. */
  isDefault: boolean
  /** Bytes of its node image that nodes have pulled. */
  bytes: number
}

interface HostsReport {
  /** Hosts that were inspected again, installed again, and that waited as before. */
  inspected: readonly string[]
  provisioned: readonly string[]
  waiting: readonly string[]
  /** Hosts that Ironic took over again as they were, after its restart. */
  adopted: readonly string[]
}

interface PulledReport {
  /** Bytes of node images that nodes have pulled. */
  bytes: number
  nodes: number
  /** Seconds that the pulls take one node at the stated rate. */
  secondsEach: number
  /** Images of the payload that pods have pulled. */
  images: number
  /** Numbers of images by the registries that had them: `quay.io`. */
  registries: Readonly<Record<string, number>>
  model: string
}
