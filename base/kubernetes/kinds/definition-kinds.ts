import type { Condition, KubeObject } from '../object.js'

/**
 * A CustomResourceDefinition. It may be created for a kind that the API brings, as an operator's installation does it; the
 * API's own definition stays the one in force.
 */
export interface CustomResourceDefinition extends KubeObject<'CustomResourceDefinition'> {
  spec: {
    group: string
    scope: 'Cluster' | 'Namespaced'
    names: { kind: string; plural: string; [name: string]: unknown }
    versions: { name: string; served: boolean; storage: boolean; [member: string]: unknown }[]
  }
  status?: {
    acceptedNames?: object
    storedVersions?: string[]
    /** `NamesAccepted`, `Established`. */
    conditions?: Condition[]
  }
}
