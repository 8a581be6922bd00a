import type { Kind, Kinds } from './kinds.js'
import type { NewObject } from './object.js'

/** Where an object is; `namespace` is left out for kinds without namespaces. */
export interface ObjectName {
  name: string
  namespace?: string
}

export interface ListOptions {
  /** All namespaces by default. */
  namespace?: string
  /** `key=value,other!=value,present,!absent,key in (a,b)`, as kubectl takes it. */
  labelSelector?: string
  /** `metadata.name=X`, `metadata.namespace=X`. */
  fieldSelector?: string
}

export type WatchEvent<K extends Kind> = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: Kinds[K]
}

/**
 * The Kubernetes API as actors use it. Objects are values: what is read may be kept and changed, and changes nothing until
 * it is sent. Every method throws {@link KubeRefusal} with the API's own status.
 */
export interface KubeClient {
  get<K extends Kind>(kind: K, at: ObjectName): Promise<Kinds[K]>
  /** Undefined in place of a refusal with 404. */
  find<K extends Kind>(kind: K, at: ObjectName): Promise<Kinds[K] | undefined>
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<{ items: Kinds[K][]; resourceVersion: string }>
  create<K extends Kind>(object: NewObject<Kinds[K]> & { kind: K }): Promise<Kinds[K]>
  /** Replaces all but the status; refused with 409 when the object has another resourceVersion by now. */
  update<K extends Kind>(object: Kinds[K] & { kind: K }): Promise<Kinds[K]>
  /** Replaces the status alone; refused as {@link update} is. */
  updateStatus<K extends Kind>(object: Kinds[K] & { kind: K }): Promise<Kinds[K]>
  /** A JSON merge patch (RFC 7386) of anything but the status. */
  patch<K extends Kind>(kind: K, at: ObjectName, patch: object): Promise<Kinds[K]>
  /** Deletes at once, or marks an object with finalizers as deleted: it goes when the last is removed. */
  delete(kind: Kind, at: ObjectName): Promise<void>
  /**
   * Changes after a resourceVersion, in their order; without one first an `ADDED` for each object that is there. Ends when
   * the signal is aborted.
   */
  watch<K extends Kind>(
    kind: K,
    options: ListOptions & { resourceVersion?: string; signal: AbortSignal },
  ): AsyncIterable<WatchEvent<K>>
}

/** A refusal of the API, as its `Status` object says it. */
export interface KubeStatus {
  kind: 'Status'
  apiVersion: 'v1'
  status: 'Failure' | 'Success'
  message: string
  reason:
    | ('NotFound' | 'AlreadyExists' | 'Conflict' | 'Invalid' | 'BadRequest' | 'Expired' | 'MethodNotAllowed')
    | ('Unauthorized' | 'Forbidden' | 'NotAcceptable' | 'RequestEntityTooLarge' | 'UnsupportedMediaType')
    | ('Timeout' | 'TooManyRequests' | 'InternalError' | '')
  code: number
  metadata?: object
  details?: {
    name?: string
    group?: string
    kind?: string
    uid?: string
    causes?: { reason?: string; message: string; field?: string }[]
  }
}
