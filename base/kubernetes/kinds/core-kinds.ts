import type { Condition, KubeObject } from '../object.js'

export interface ConfigMap extends KubeObject<'ConfigMap'> {
  data?: Record<string, string>
}

export interface Secret extends KubeObject<'Secret'> {
  type?: string
  /** Base64. */
  data?: Record<string, string>
  /** Only in requests: the API keeps it in `data`. */
  stringData?: Record<string, string>
}

/** A computer that has joined the cluster. Its machine config daemon reads the wanted config from its annotations. */
export interface KubeNode extends KubeObject<'Node'> {
  spec?: { unschedulable?: boolean; providerID?: string }
  status?: {
    conditions?: Condition[]
    nodeInfo?: { osImage?: string; kubeletVersion?: string; architecture?: string; bootID?: string }
  }
}

/** Names the leader among a controller's replicas: client-go's leader election writes it. */
export interface Lease extends KubeObject<'Lease'> {
  spec?: {
    /** Empty once the leader has given the lease up. */
    holderIdentity?: string
    leaseDurationSeconds?: number
    /** RFC 3339, in microseconds. */
    acquireTime?: string
    renewTime?: string
    leaseTransitions?: number
  }
}

/** A controller's note about an object. `events.k8s.io` has the same objects with other names of fields. */
export interface KubeEvent extends KubeObject<'Event'> {
  involvedObject: {
    apiVersion?: string
    kind?: string
    name?: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    fieldPath?: string
  }
  type?: string
  reason?: string
  message?: string
  source?: { component?: string; host?: string }
  /** RFC 3339, in seconds. */
  firstTimestamp?: string | null
  lastTimestamp?: string | null
  count?: number
  /** RFC 3339, in microseconds. */
  eventTime?: string | null
  series?: { count?: number; lastObservedTime?: string }
  action?: string
  related?: object
  reportingComponent?: string
  reportingInstance?: string
}

/** Made by the API for each namespace in which an object is created. */
export interface Namespace extends KubeObject<'Namespace'> {
  spec?: object
  status?: { phase?: 'Active' | 'Terminating' }
}
