import { defined, isNestedDeeper, randomUuid, type Clock, type Random } from '../runtime/index.js'
import { admitObject, coreErrors, dropsStatusOnCreate } from './admission.js'
import { ChangeLog } from './change-log.js'
import { Garbage } from './garbage.js'
import { copyJson, freezeJson, isSameJson, jsonSize, withoutMembers, type JsonMembers } from './kube-json.js'
import { apiVersionOf, KUBE_KINDS, type KubeKind } from './kinds.js'
import type { ObjectFile } from './object-file.js'
import type { KubeListOptions, ObjectName } from './kube-client.js'
import { KubeRefusal } from './kube-refusal.js'
import { LASTING_NAMESPACES } from './namespaces.js'
import {
  changedMetadata,
  identityErrors,
  metadataErrors,
  newFinalizersErrors,
  sentMetadata,
  pickSettable,
} from './object-metadata.js'
import type { StoredMeta } from './object.js'
import * as refusals from './refusals.js'
import { makeSelector } from './selectors.js'
import { resourceVersionOf, type Stored } from './stored-object.js'
import { openWatch, type ObjectWatch } from './watch.js'

/** A write that a webhook is asked about. */
export interface AdmittedWrite {
  kind: KubeKind
  /** Absent for a new object. */
  before: Stored | undefined
  /** Absent for one that is deleted. */
  after: Stored | undefined
}

/** The objects that a webhook may look at. */
export type ObjectReader = Pick<ObjectStore, 'list'>

export interface StoreParts {
  clock: Clock
  random: Random
  /** Finds errors outside of the metadata. */
  validate?: (kind: KubeKind, object: JsonMembers, subresource?: 'status') => refusals.FieldError[]
  /** Admission webhooks: the sentence of a refusal. Writes of a status do not ask them. */
  webhooks?: (write: AdmittedWrite, read: ObjectReader) => string | undefined
  /** Bytes of JSON that all objects may have together, 512 MiB by default. */
  capacity?: number
  /** Objects of before, and where each write is kept; without they are in memory alone. */
  file?: Pick<ObjectFile, 'objects' | 'resourceVersion' | 'keep'>
}

interface WriteOptions {
  /** Validates and answers without writing. */
  isDryRun?: boolean
}

export interface CreateOptions extends WriteOptions {
  /** Refuses an object whose namespace is not there, as an API server does; without, it is made. */
  needsNamespace?: boolean
}

export interface DeleteOptions extends WriteOptions {
  /** Refuses to delete another object of this name, or a changed one. */
  preconditions?: { uid?: string; resourceVersion?: string }
  /** Leaves the objects that it owns, without an owner. */
  orphansDependents?: boolean
}

export interface ChangeOptions extends WriteOptions {
  /** Writes the status and nothing else; without, everything but the status. */
  subresource?: 'status'
  /** Takes an object that names no resourceVersion as one of the present version. */
  isUnconditional?: boolean
}

/** A namespaced object without one is in this one. */
const DEFAULT_NAMESPACE = 'default'

/** Bytes of an object as JSON: embed/config.go of etcd 3.5, DefaultMaxRequestBytes. */
const MAX_OBJECT = 1.5 * 1024 * 1024

const NAMESPACED_KINDS = (Object.keys(KUBE_KINDS) as KubeKind[]).filter((kind) => KUBE_KINDS[kind].isNamespaced)

/** Events that are kept. */
const MAX_EVENTS = 10_000

/** As much JSON as a process of Node holds beside its watches; etcd has 2 GiB. */
const CAPACITY = 512 * 1024 * 1024

/** Objects of one kind by `NAMESPACE/NAME`, and their changes. */
class Shelf {
  readonly objects = new Map<string, Stored>()
  /** Bytes of each object as JSON, by key. */
  readonly sizes = new Map<string, number>()
  readonly log = new ChangeLog()
  /** In the order of a list, by key; rebuilt after an object is added or removed. */
  sorted: readonly Stored[] | undefined
}

/**
 * The objects of the Kubernetes API, in memory. Objects come in as JSON values, which are copied, and go out frozen. All
 * is synchronous, so that a write is whole before the next begins.
 */
export class ObjectStore {
  readonly #parts: StoreParts
  readonly #shelves = Object.fromEntries(Object.keys(KUBE_KINDS).map((kind) => [kind, new Shelf()])) as Record<
    KubeKind,
    Shelf
  >
  readonly #garbage: Garbage
  #version = 1
  /** Bytes of all objects as JSON. */
  #size = 0
  /** True while the objects of a namespace are deleted one by one. */
  #isEmptying = false

  constructor(parts: StoreParts) {
    this.#parts = parts
    this.#garbage = new Garbage({
      find: (kind, at) => this.find(kind, at),
      remove: (kind, at, uid) => void this.delete(kind, at, { preconditions: { uid } }),
      disown: (kind, at, ownerReferences) =>
        void this.change(kind, at, (current) => ({ ...current, metadata: { ...current.metadata, ownerReferences } })),
    })
    if (parts.file) this.#restore(parts.file)
    for (const namespace of this.list('Namespace')) this.#endIfEmpty(namespace.metadata.name)
  }

  #restore({ objects, resourceVersion }: NonNullable<StoreParts['file']>): void {
    this.#version = resourceVersion
    for (const { log } of Object.values(this.#shelves)) log.beginAfter(resourceVersion)
    const restored = objects.map((object) => freezeJson(copyJson(object)) as Stored)
    for (const object of restored) this.#put(object, jsonSize(object))
    this.#garbage.restore(restored)
  }

  /** resourceVersion of the last write of any object. */
  get resourceVersion(): number {
    return this.#version
  }

  find(kind: KubeKind, at: ObjectName): Stored | undefined {
    return this.#shelves[kind].objects.get(storeKeyOf(kind, at))
  }

  /** @throws KubeRefusal 404 */
  get(kind: KubeKind, at: ObjectName): Stored {
    const found = this.find(kind, at)
    if (!found) throw refusals.objectNotFound(kind, at.name)
    return found
  }

  /** Sorted by namespace and name. */
  list(kind: KubeKind, options: KubeListOptions = {}): Stored[] {
    const shelf = this.#shelves[kind]
    shelf.sorted ??= [...shelf.objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
    // A list of all that is not the shelf's own: callers may keep it.
    return shelf.sorted.filter(makeSelector(options, kind))
  }

  /**
   * The objects as they were at an earlier resourceVersion, sorted as a list.
   *
   * @throws KubeRefusal 410 when later changes have been forgotten
   */
  listAt(kind: KubeKind, version: number, options: KubeListOptions = {}): Stored[] {
    const { objects, log } = this.#shelves[kind]
    const then = new Map(objects)
    for (const { before, after } of log.changesAfter(version).reverse()) {
      const key = storeKeyOf(kind, after.metadata)
      if (before) then.set(key, before)
      else then.delete(key)
    }
    const sorted = [...then].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
    return sorted.filter(makeSelector(options, kind))
  }

  /** @throws KubeRefusal 400, 403, 404, 409, 422 */
  create(kind: KubeKind, sent: unknown, options: CreateOptions = {}): Stored {
    const { isDryRun = false, needsNamespace = false } = options
    const object = received(kind, sent)
    const from = sentMetadata(object)
    if (from['resourceVersion'] !== undefined && from['resourceVersion'] !== '')
      throw refusals.badRequest('resourceVersion should not be set on objects to be created')
    const metadata = this.#newMetadata(kind, from)
    const rest = dropsStatusOnCreate(kind) ? withoutMembers(object, 'status') : object
    const made = admitObject(kind, { ...rest, metadata: metadata as unknown as JsonMembers })
    this.#checkNamespace(kind, metadata, needsNamespace)
    this.#check(kind, made, {}, metadataErrors(made['metadata'] as JsonMembers, KUBE_KINDS[kind]))
    this.#admit({ kind, before: undefined, after: made as Stored })
    if (this.find(kind, metadata)) throw refusals.alreadyExists(kind, metadata.name)
    const { namespace: name } = metadata
    if (name !== undefined && !isDryRun && !this.find('Namespace', { name }))
      this.create('Namespace', { metadata: { name } })
    const written = this.#write(undefined, made as Stored, isDryRun)
    if (kind === 'Event' && !isDryRun) this.#dropOldEvents()
    return written
  }

  /** @throws KubeRefusal 404 for a namespace that is not there, 403 for one that ends */
  #checkNamespace(kind: KubeKind, { name, namespace }: StoredMeta, isNeeded: boolean): void {
    if (!KUBE_KINDS[kind].isNamespaced || typeof namespace !== 'string') return
    const found = this.find('Namespace', { name: namespace })
    if (!found && isNeeded) throw refusals.objectNotFound('Namespace', namespace)
    if (found?.metadata.deletionTimestamp !== undefined) throw refusals.namespaceTerminating(kind, name, namespace)
  }

  /** An API server drops events after an hour. Lab time may jump over hours: here the oldest go when there are many. */
  #dropOldEvents(): void {
    const { objects } = this.#shelves.Event
    for (const event of objects.values()) {
      if (objects.size <= MAX_EVENTS) return
      this.#remove(event, event, false)
    }
  }

  /**
   * Writes what `modify` makes of the present object. A write that changes nothing is a no-op.
   *
   * @throws KubeRefusal 400, 404, 409, 422
   */
  change(kind: KubeKind, at: ObjectName, modify: (current: Stored) => unknown, options: ChangeOptions = {}): Stored {
    const { subresource, isUnconditional = true, isDryRun = false } = options
    const { hasStatus } = KUBE_KINDS[kind]
    if (subresource && !hasStatus) throw refusals.noSuchResource()
    const current = this.get(kind, at)
    const sent = received(kind, modify(current))
    const from = sentMetadata(sent)
    this.#checkSame(kind, current, from, isUnconditional)

    const metadata = subresource ? current.metadata : changedMetadata(current.metadata, from)
    const body = subresource
      ? { ...withoutMembers(current, 'status'), ...only(sent, 'status') }
      : hasStatus
        ? { ...withoutMembers(sent, 'status'), ...only(current, 'status') }
        : sent
    const next = sharing(admitObject(kind, { ...body, metadata: metadata as unknown as JsonMembers }), current)
    if (isSameJson(next, current)) return current
    this.#check(kind, next, { before: current, subresource }, [
      ...(subresource ? [] : metadataErrors(next['metadata'] as JsonMembers, KUBE_KINDS[kind])),
      ...newFinalizersErrors(current.metadata, metadata),
      ...(subresource ? [] : identityErrors(current.metadata, from)),
    ])
    if (!subresource) this.#admit({ kind, before: current, after: next as unknown as Stored })
    const isSpecChanged = !isSameJson(
      withoutMembers(next, 'metadata', 'status'),
      withoutMembers(current, 'metadata', 'status'),
    )
    const counted = isSpecChanged ? countedChange(metadata) : metadata
    const written = { ...next, metadata: counted } as unknown as Stored
    const isReleased = metadata.deletionTimestamp !== undefined && !metadata.finalizers
    // A namespace also waits for what is in it.
    if (isReleased && kind !== 'Namespace') return this.#remove(current, written, isDryRun)
    const after = this.#write(current, written, isDryRun)
    if (isReleased && !isDryRun) this.#endIfEmpty(at.name)
    return after
  }

  /**
   * Deletes an object, or marks one that has finalizers; gives its last state.
   *
   * @throws KubeRefusal 404, 409
   */
  delete(kind: KubeKind, at: ObjectName, options: DeleteOptions = {}): Stored {
    const { preconditions = {}, orphansDependents = false, isDryRun = false } = options
    const current = this.get(kind, at)
    const { metadata } = current
    for (const [field, name] of [
      ['uid', 'UID'],
      ['resourceVersion', 'ResourceVersion'],
    ] as const) {
      const wanted = preconditions[field]
      if (wanted === undefined || wanted === metadata[field]) continue
      const why = `Precondition failed: ${name} in precondition: ${wanted}, ${name} in object meta: ${metadata[field]}`
      throw refusals.conflictRefusal(kind, at.name, why)
    }
    this.#admit({ kind, before: current, after: undefined })
    if (kind === 'Namespace') return isDryRun ? current : this.#terminate(current)
    if (orphansDependents && !isDryRun) this.#orphan(metadata.uid)
    if (!metadata.finalizers) return this.#remove(current, current, isDryRun)
    if (metadata.deletionTimestamp !== undefined) return current
    const marked = { ...countedChange(metadata), deletionTimestamp: this.#now() }
    return this.#write(current, { ...current, metadata: marked } as unknown as Stored, isDryRun)
  }

  /**
   * Changes after a resourceVersion; without one (or with `0`) first the objects that are there.
   *
   * @throws KubeRefusal 400, 410
   */
  watch(kind: KubeKind, options: KubeListOptions & { resourceVersion?: string } = {}): ObjectWatch {
    const { resourceVersion = '' } = options
    const selects = makeSelector(options, kind)
    const { log } = this.#shelves[kind]
    if (resourceVersion === '' || resourceVersion === '0')
      return openWatch(log, this.list(kind, options), this.#version, selects)
    if (!/^\d{1,15}$/.test(resourceVersion))
      throw refusals.badRequest(`Invalid value: "${resourceVersion}": resourceVersion`)
    return openWatch(log, [], Number(resourceVersion), selects)
  }

  #newMetadata(kind: KubeKind, sent: JsonMembers): StoredMeta {
    const { name, generateName, namespace } = sent
    const prefix = typeof generateName === 'string' ? generateName : ''
    return {
      // Wrong types are found by the check of what is made of it.
      name: (name === undefined || name === '' ? prefix && `${prefix}${this.#suffix()}` : name) as string,
      ...defined({
        generateName: prefix === '' ? undefined : prefix,
        namespace: KUBE_KINDS[kind].isNamespaced ? ((namespace ?? DEFAULT_NAMESPACE) as string) : undefined,
        generation: KUBE_KINDS[kind].hasGeneration ? 1 : undefined,
      }),
      uid: randomUuid(this.#parts.random),
      resourceVersion: '',
      creationTimestamp: this.#now(),
      ...pickSettable(sent),
    }
  }

  /** apimachinery pkg/util/rand: letters and digits that make no words. */
  #suffix(): string {
    return [...this.#parts.random.bytes(5)].map((byte) => SUFFIX[byte % SUFFIX.length]).join('')
  }

  #now(): string {
    return `${new Date(this.#parts.clock.now()).toISOString().slice(0, 19)}Z`
  }

  #checkSame(kind: KubeKind, { metadata }: Stored, sent: JsonMembers, isUnconditional: boolean): void {
    const { name, namespace = metadata.namespace, uid = metadata.uid, resourceVersion = '' } = sent
    if (name !== metadata.name)
      throw refusals.badRequest(
        `the name of the object (${String(name)}) does not match the name on the URL (${metadata.name})`,
      )
    if (KUBE_KINDS[kind].isNamespaced && namespace !== metadata.namespace)
      throw refusals.badRequest('the namespace of the provided object does not match the namespace sent on the request')
    if (uid !== metadata.uid) {
      const why = `Precondition failed: UID in precondition: ${String(uid)}, UID in object meta: ${metadata.uid}`
      throw refusals.conflictRefusal(kind, metadata.name, why)
    }
    if (resourceVersion === '' || resourceVersion === '0') {
      if (isUnconditional) return
      throw refusals.versionMissing(kind, metadata.name)
    }
    if (resourceVersion !== metadata.resourceVersion)
      throw refusals.conflictRefusal(kind, metadata.name, refusals.CHANGED_MEANWHILE)
  }

  #check(
    kind: KubeKind,
    object: JsonMembers,
    { before, subresource }: { before?: Stored; subresource?: 'status' | undefined },
    found: readonly refusals.FieldError[],
  ): void {
    const ofSchema = this.#parts.validate?.(kind, object, subresource) ?? []
    const errors = [...found, ...coreErrors(kind, object, before), ...ofSchema]
    const { name } = object['metadata'] as { name?: unknown }
    if (errors.length > 0) throw refusals.invalidObject(kind, typeof name === 'string' ? name : '', errors)
  }

  #admit(write: AdmittedWrite): void {
    const refusal = this.#parts.webhooks?.(write, this)
    if (refusal !== undefined) throw refusals.deniedByWebhook(write.kind, refusal)
  }

  #write(before: Stored | undefined, object: Stored, isDryRun: boolean): Stored {
    const resourceVersion = isDryRun ? before?.metadata.resourceVersion : String(this.#version + 1)
    // A new object that is not written has no version.
    const metadata = { ...withoutMembers(object.metadata, 'resourceVersion'), ...defined({ resourceVersion }) }
    const after = freezeJson({ ...object, metadata }) as unknown as Stored
    const size = jsonSize(after)
    this.#checkRoom(after, size)
    if (isDryRun) return after
    this.#parts.file?.keep(after, false)
    this.#version++
    this.#put(after, size)
    this.#record(before, after, false)
    return after
  }

  /** @throws KubeRefusal 413, 507; an object that shrinks is always taken, so that room can be made */
  #checkRoom({ kind, metadata }: Stored, size: number): void {
    const grows = size - (this.#shelves[kind].sizes.get(storeKeyOf(kind, metadata)) ?? 0)
    if (grows <= 0) return
    if (size > MAX_OBJECT) throw refusals.objectTooLarge()
    if (this.#size + grows > (this.#parts.capacity ?? CAPACITY)) throw refusals.storeFull()
  }

  #put(object: Stored, size: number): void {
    const { objects, sizes } = this.#shelves[object.kind]
    const key = storeKeyOf(object.kind, object.metadata)
    this.#size += size - (sizes.get(key) ?? 0)
    objects.set(key, object)
    sizes.set(key, size)
    this.#shelves[object.kind].sorted = undefined
  }

  #remove(before: Stored, object: Stored, isDryRun: boolean): Stored {
    if (isDryRun) return object
    const resourceVersion = String(this.#version + 1)
    const after = freezeJson({ ...object, metadata: { ...object.metadata, resourceVersion } }) as Stored
    this.#parts.file?.keep(after, true)
    this.#version++
    const shelf = this.#shelves[after.kind]
    const key = storeKeyOf(after.kind, after.metadata)
    this.#size -= shelf.sizes.get(key) ?? 0
    shelf.objects.delete(key)
    shelf.sizes.delete(key)
    shelf.sorted = undefined
    this.#record(before, after, true)
    const { namespace } = after.metadata
    if (namespace !== undefined && !this.#isEmptying) this.#endIfEmpty(namespace)
    return after
  }

  #record(before: Stored | undefined, after: Stored, isDeleted: boolean): void {
    const { log, objects } = this.#shelves[after.kind]
    log.add({ resourceVersion: resourceVersionOf(after), before, after, isDeleted }, objects.size)
    this.#garbage.changed(before, isDeleted ? undefined : after)
  }

  /** Ends a namespace: it takes nothing any more, and goes with the last of its objects. */
  #terminate(current: Stored): Stored {
    const { name } = current.metadata
    if (LASTING_NAMESPACES.has(name)) throw refusals.namespaceStays(name)
    if (current.metadata.deletionTimestamp !== undefined) return current
    const metadata = { ...current.metadata, deletionTimestamp: this.#now() }
    const marked = { ...current, metadata, status: { phase: 'Terminating' } } as unknown as Stored
    const ending = this.#write(current, marked, false)
    this.#endIfEmpty(name)
    return ending
  }

  /** Deletes the objects of a namespace. One that a webhook keeps is tried again when another has gone. */
  #emptyNamespace(namespace: string): void {
    this.#isEmptying = true
    try {
      for (const kind of NAMESPACED_KINDS)
        for (const { metadata } of this.list(kind, { namespace }))
          if (metadata.deletionTimestamp === undefined) this.#deleteIfAllowed(kind, metadata)
    } finally {
      this.#isEmptying = false
    }
  }

  #deleteIfAllowed(kind: KubeKind, at: ObjectName): void {
    try {
      this.delete(kind, at)
    } catch (error) {
      if (!(error instanceof KubeRefusal)) throw error
    }
  }

  /** Removes a namespace that ends, once nothing is in it. */
  #endIfEmpty(name: string): void {
    const found = this.find('Namespace', { name })
    if (found?.metadata.deletionTimestamp === undefined) return
    this.#emptyNamespace(name)
    if (found.metadata.finalizers) return
    const isFilled = NAMESPACED_KINDS.some((kind) => this.list(kind, { namespace: name }).length > 0)
    if (!isFilled) this.#remove(found, found, false)
  }

  #orphan(uid: string): void {
    for (const place of this.#garbage.dependentsOf(uid))
      this.change(place.kind, place, (current) => {
        const ownerReferences = current.metadata.ownerReferences!.filter((each) => each.uid !== uid)
        return { ...current, metadata: { ...current.metadata, ownerReferences } }
      })
  }
}

const SUFFIX = 'bcdfghjklmnpqrstvwxz2456789'

/** Metadata after a change that its generation counts, if it has one. */
const countedChange = (metadata: Readonly<StoredMeta>): Readonly<StoredMeta> =>
  metadata.generation === undefined ? metadata : { ...metadata, generation: metadata.generation + 1 }

const only = (object: JsonMembers, name: string): JsonMembers =>
  object[name] === undefined ? {} : { [name]: object[name] }

/** With the members that have not changed as they are in the present object, which is frozen already. */
const sharing = (next: JsonMembers, current: JsonMembers): JsonMembers =>
  Object.fromEntries(
    Object.entries(next).map(([name, value]) => [name, isSameJson(value, current[name]) ? current[name]! : value]),
  )

const storeKeyOf = (kind: KubeKind, { name, namespace }: ObjectName): string =>
  KUBE_KINDS[kind].isNamespaced ? `${namespace ?? DEFAULT_NAMESPACE}/${name}` : name

/**
 * A copy of an object that is sent.
 *
 * @throws KubeRefusal 400 for what is not an object of the kind
 */
function received(kind: KubeKind, sent: unknown): JsonMembers {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw refusals.badRequest('this is not an object')
  if (isNestedDeeper(sent, MAX_OBJECT_DEPTH))
    throw refusals.badRequest(`the object is nested more than ${MAX_OBJECT_DEPTH} levels deep`)
  const { apiVersion = apiVersionOf(kind), kind: own = kind, ...rest } = copyJson(sent) as JsonMembers
  if (apiVersion !== apiVersionOf(kind) || own !== kind)
    throw refusals.badRequest(
      `the API version in the data (${JSON.stringify(apiVersion)}, ${JSON.stringify(own)}) does not match the expected API version (${apiVersionOf(kind)}, ${kind})`,
    )
  return { apiVersion, kind, ...rest }
}

/** Limit on nesting, far above real objects: copies and comparisons recurse. */
const MAX_OBJECT_DEPTH = 200
