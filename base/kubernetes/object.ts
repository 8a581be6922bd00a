import type { JsonMembers } from './kube-json.js'

/** An entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  manager: string
  operation: 'Apply' | 'Update'
  apiVersion: string
  /** RFC 3339, in seconds. */
  time: string
  fieldsType: 'FieldsV1'
  fieldsV1: JsonMembers
  subresource?: string
}

/** `metadata` of an object of any kind, as Kubernetes' API has it. */
export interface StoredMeta {
  name: string
  /** The beginning of a name that the API chose. */
  generateName?: string
  /** Absent for kinds without namespaces. */
  namespace?: string
  uid: string
  /** Changes with every write, of the status too; grows over all objects. */
  resourceVersion: string
  /** Changes with every write of anything but metadata and status; plain kinds of the core group have none. */
  generation?: number
  /** RFC 3339, in seconds. */
  creationTimestamp: string
  /** Set once the object is deleted, for as long as it has finalizers. */
  deletionTimestamp?: string
  finalizers?: string[]
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  /** Fields by their managers; absent where only this process has written the object. */
  managedFields?: ManagedFieldsEntry[]
}

/** `metadata` of a kind that a controller reads the generation of. */
interface ObjectMeta extends StoredMeta {
  generation: number
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
}

/** An object of Kubernetes' API. */
export interface KubeObject<K extends string = string> {
  apiVersion: string
  kind: K
  metadata: ObjectMeta
}

/** An object as a client sends it to be created: the rest of the metadata is the API's. */
export type NewObject<T extends KubeObject> = Omit<T, 'metadata' | 'status'> & {
  /** With an empty name the API chooses one that begins with `generateName`. */
  metadata: Pick<
    T['metadata'],
    'name' | 'generateName' | 'namespace' | 'labels' | 'annotations' | 'finalizers' | 'ownerReferences'
  >
  status?: T extends { status?: infer S } ? S : never
}

/** A condition as most kinds have them in their status. */
export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  /** `metadata.generation` of the object that it is about. */
  observedGeneration?: number
  /** RFC 3339, in seconds. */
  lastTransitionTime: string
}
