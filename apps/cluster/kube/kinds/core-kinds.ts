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

/** Made by the API for each namespace in which an object is created. */
export interface Namespace extends KubeObject<'Namespace'> {
  spec?: object
  status?: { phase?: 'Active' }
}
