import type { Condition, KubeObject } from '../object.js'

/** The release that a cluster runs, and the one that it is asked to run. There is one, named `version`. */
export interface ClusterVersion extends KubeObject<'ClusterVersion'> {
  spec: { clusterID: string; channel?: string; desiredUpdate?: { version?: string; image?: string; force?: boolean } }
  status?: {
    desired: { version: string; image: string }
    /** The newest first. */
    history: {
      state: 'Completed' | 'Partial'
      version: string
      image: string
      startedTime: string
      completionTime: string | null
      /** True if the release's signature has been checked. */
      verified: boolean
    }[]
    /** Null for a cluster that follows no channel. */
    availableUpdates: { version: string; image: string }[] | null
    conditions?: Condition[]
    observedGeneration: number
    /** Hash of the manifests that are applied; empty before. */
    versionHash: string
  }
}

/** The platform that a cluster is on. There is one, named `cluster`. */
export interface Infrastructure extends KubeObject<'Infrastructure'> {
  spec: object
  status?: {
    platformStatus?: { type: string }
    /** `HighlyAvailable`, `SingleReplica`. */
    controlPlaneTopology?: string
    [member: string]: unknown
  }
}

/** State and version of an operator of the cluster, by its own account. */
export interface ClusterOperator extends KubeObject<'ClusterOperator'> {
  spec?: object
  status?: {
    /** `Available`, `Progressing`, `Degraded`, `Upgradeable`. */
    conditions: Condition[]
    /** The versions that it has rolled out; that of the release is named `operator`. */
    versions: { name: string; version: string }[]
  }
}
