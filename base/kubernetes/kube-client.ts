import type { KubeKind, KubeKinds } from './kinds.js'
import type { NewObject } from './object.js'

/** Where an object is; `namespace` is left out for kinds without namespaces. */
export interface ObjectName {
  name: string
  namespace?: string
}

export interface KubeListOptions {
  /** All namespaces by default. */
  namespace?: string
  /** `key=value,other!=value,present,!absent,key in (a,b)`, as kubectl takes it. */
  labelSelector?: string
  /** `metadata.name=X`, `involvedObject.uid!=X`: the fields of `selectable-fields.ts`. */
  fieldSelector?: string
}

export type WatchEvent<K extends KubeKind> = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: KubeKinds[K]
}

/**
 * The Kubernetes API as actors use it. Objects are values: what is read may be kept and changed, and changes nothing until
 * it is sent. Every method throws {@link KubeRefusal} with the API's own status.
 */
export interface KubeClient {
  get<K extends KubeKind>(kind: K, at: ObjectName): Promise<KubeKinds[K]>
  /** Undefined in place of a refusal with 404. */
  find<K extends KubeKind>(kind: K, at: ObjectName): Promise<KubeKinds[K] | undefined>
  list<K extends KubeKind>(
    kind: K,
    options?: KubeListOptions,
  ): Promise<{ items: KubeKinds[K][]; resourceVersion: string }>
  create<K extends KubeKind>(object: NewObject<KubeKinds[K]> & { kind: K }): Promise<KubeKinds[K]>
  /** Replaces all but the status; refused with 409 when the object has another resourceVersion by now. */
  update<K extends KubeKind>(object: KubeKinds[K] & { kind: K }): Promise<KubeKinds[K]>
  /** Replaces the status alone; refused as {@link update} is. */
  updateStatus<K extends KubeKind>(object: KubeKinds[K] & { kind: K }): Promise<KubeKinds[K]>
  /** A JSON merge patch (RFC 7386) of anything but the status. */
  patch<K extends KubeKind>(kind: K, at: ObjectName, patch: object): Promise<KubeKinds[K]>
  /** Deletes at once, or marks an object with finalizers as deleted: it goes when the last is removed. */
  delete(kind: KubeKind, at: ObjectName): Promise<void>
  /**
   * Changes after a resourceVersion, in their order; without one first an `ADDED` for each object that is there. Ends when
   * the signal is aborted.
   */
  watch<K extends KubeKind>(
    kind: K,
    options: KubeListOptions & { resourceVersion?: string; signal: AbortSignal },
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
    /** How long a client waits before it asks again. */
    retryAfterSeconds?: number
    causes?: { reason?: string; message: string; field?: string }[]
  }
}
