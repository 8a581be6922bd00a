import type { Condition, KubeObject } from '../object.js'

export interface PodContainer {
  name: string
  /** Pullspec. */
  image: string
  args?: string[]
  env?: { name: string; value: string }[]
}

/** A pod that is to run, of one replica here. The site's kubelet runs it, and says in the status how far it is. */
export interface Deployment extends KubeObject<'Deployment'> {
  spec: {
    replicas: number
    /** Default `RollingUpdate`: the old pod goes on until the new one is about to start. */
    strategy?: { type: 'Recreate' | 'RollingUpdate' }
    template: {
      metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }
      spec: { initContainers?: PodContainer[]; containers: PodContainer[] }
    }
  }
  status?: {
    observedGeneration: number
    replicas: number
    /** Pods of the present template. */
    updatedReplicas: number
    availableReplicas: number
    /** `Available`, `Progressing`. */
    conditions?: Condition[]
  }
}
