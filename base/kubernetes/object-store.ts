import { defined, randomUuid, type Clock, type Random } from '../runtime/index.js'
import { appliedTo, managersAfterUpdate, managersSent, type FieldWriter } from './apply/field-managers.js'
import { objectShape } from './apply/field-shape.js'
import { admitObject, coreErrors, dropsStatusOnCreate } from './admission.js'
import { ChangeLog } from './change-log.js'
import { definitionErrors } from './crds/definition-rules.js'
import { CLEANUP_FINALIZER, terminatingDefinition } from './crds/definition-status.js'
import { DefinedKinds } from './defined-kinds.js'
import { Garbage } from './garbage.js'
import { copyJson, freezeJson, isSameJson, jsonSize, withoutMembers, type JsonMembers } from './kube-json.js'
import type { KubeKind } from './kinds.js'
import { groupVersion, type KindEntry, type KindVersion } from './kinds/kind-entry.js'
import { KindRegistry } from './kinds/kind-registry.js'
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
import type { ManagedFieldsEntry, StoredMeta } from './object.js'
import * as refusals from './refusals.js'
import { makeSelector } from './selectors.js'
import { inVersion, receivedObject, storedVersion, versionOfWrite, writtenBody } from './sent-object.js'
import { resourceVersionOf, type Stored } from './stored-object.js'
import { openWatch, type ObjectWatch } from './watch.js'

/** A write that a webhook is asked about. */
export interface AdmittedWrite {
  /** Kind of one that ironstage's operators know; of others the resource. */
  kind: string
  /** Absent for a new object. */
  before: Stored | undefined
  /** Absent for one that is deleted. */
  after: Stored | undefined
}

/** A ValidatingAdmissionPolicy, or a rule in CEL of a definition, as a function: writes of a status do not ask it. */
export interface AdmissionPolicy {
  /** Name of the policy, which its binding has too, with `-binding` after it; absent for a rule of a definition. */
  name?: string
  kind: KubeKind
  /** True if a write is refused. */
  refuses: (write: AdmittedWrite, read: ObjectReader) => boolean
  /** Field of a definition's rule, and its value, for the message; by default the object itself. */
  at?: (write: AdmittedWrite) => { field: string; value: string } | undefined
  /** Sentence of the refusal; of a policy whose sentence depends on the release, by what the cluster has. */
  message: string | ((read: ObjectReader) => string)
}

/** The objects that a webhook may look at. */
export type ObjectReader = Pick<ObjectStore, 'list'>

export interface StoreParts {
  clock: Clock
  random: Random
  /** Finds errors outside of the metadata. */
  validate?: (version: KindVersion, object: JsonMembers, subresource?: 'status') => refusals.FieldError[]
  /** Asked before the webhooks, as a real API server asks them. */
  policies?: readonly AdmissionPolicy[]
  /** Admission webhooks: the sentence of a refusal. Writes of a status do not ask them. */
  webhooks?: (write: AdmittedWrite, read: ObjectReader) => string | undefined
  /** Bytes of JSON that all objects may have together, 512 MiB by default. */
  capacity?: number
  /** Objects of before, and where each write is kept; without they are in memory alone. */
  file?: Pick<ObjectFile, 'objects' | 'resourceVersion' | 'keep'>
}

/** A write that was admitted, or would be. */
export interface ObservedWrite {
  entry: KindEntry
  /** Absent for a new object. */
  before: Stored | undefined
  /** Absent for one that is deleted. */
  after: Stored | undefined
}

interface WriteOptions {
  /** Validates and answers without writing. */
  isDryRun?: boolean
  /** Version in which the object is sent; by default the one that it names, or else the stored one. */
  version?: string
  /** Manager of the fields, as `managedFields` records it; this process by default, which is recorded beside others alone. */
  manager?: string
}

/** A write of what a client applies: of the fields that it has an opinion on. */
export interface ApplyOptions extends WriteOptions {
  manager: string
  /** Takes fields over that others have set. */
  isForced?: boolean
  subresource?: 'status'
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

/** Events that are kept. */
const MAX_EVENTS = 10_000

/** As much JSON as a process of Node holds beside its watches; etcd has 2 GiB. */
const CAPACITY = 512 * 1024 * 1024

/** Objects of one kind by `NAMESPACE/NAME`, and their changes. */
class Shelf {
  readonly entry: KindEntry
  readonly objects = new Map<string, Stored>()
  /** Bytes of each object as JSON, by key. */
  readonly sizes = new Map<string, number>()
  readonly log = new ChangeLog()
  /** In the order of a list, by key; rebuilt after an object is added or removed. */
  sorted: readonly Stored[] | undefined

  constructor(entry: KindEntry) {
    this.entry = entry
  }
}

/**
 * The objects of the Kubernetes API, in memory. Objects come in as JSON values, which are copied, and go out frozen. All
 * is synchronous, so that a write is whole before the next begins.
 */
export class ObjectStore {
  /** The kinds that there are; definitions among the objects add to them. */
  readonly kinds = new KindRegistry()
  readonly #parts: StoreParts
  readonly #defined = new DefinedKinds(this.kinds)
  /** By the resource of their kind. */
  readonly #shelves = new Map<string, Shelf>()
  readonly #garbage: Garbage
  #version = 1
  /** The version with which this process began: changes before it were those of another. */
  #firstVersion = 0
  /** Bytes of all objects as JSON. */
  #size = 0
  /** True while the objects of a namespace are deleted one by one. */
  #isEmptying = false
  #observe: ((write: ObservedWrite) => void) | undefined

  constructor(parts: StoreParts) {
    this.#parts = parts
    this.#garbage = new Garbage({
      nameOf: (object) => this.#shelfOf(object).entry.resource,
      find: (kind, at) => this.find(kind, at),
      remove: (kind, at, uid) => void this.delete(kind, at, { preconditions: { uid } }),
      disown: (kind, at, ownerReferences) =>
        void this.change(kind, at, (current) => ({ ...current, metadata: { ...current.metadata, ownerReferences } })),
    })
    if (parts.file) this.#restore(parts.file)
    for (const { metadata } of this.list(DEFINITIONS)) {
      const entry = metadata.deletionTimestamp === undefined ? undefined : this.kinds.find(metadata.name)
      if (entry) this.#emptyKind(entry)
    }
    this.#endEmptyNamespaces()
  }

  #restore({ objects, resourceVersion }: NonNullable<StoreParts['file']>): void {
    this.#version = resourceVersion
    this.#firstVersion = resourceVersion
    const restored = objects.map((object) => freezeJson(copyJson(object)) as Stored)
    for (const object of restored.filter(isDefinition)) this.#defined.written(object)
    for (const object of restored) this.#put(object, jsonSize(object))
    this.#garbage.restore(restored)
  }

  /** resourceVersion of the last write of any object. */
  get resourceVersion(): number {
    return this.#version
  }

  /** The objects of a kind; of one that has just been defined there are none. */
  #shelf(entry: KindEntry): Shelf {
    const known = this.#shelves.get(entry.resource)
    if (known) return known
    const shelf = new Shelf(entry)
    shelf.log.beginAfter(this.#firstVersion)
    this.#shelves.set(entry.resource, shelf)
    return shelf
  }

  /** @throws KubeRefusal 404 for a kind whose definition has gone */
  #shelfOf(object: Stored): Shelf {
    const entry = this.kinds.ofObject(object)
    if (!entry) throw refusals.noSuchResource()
    return this.#shelf(entry)
  }

  /** @param kind its resource, or the kind of one that ironstage brings; of a kind that there is not, there is no object */
  find(kind: string, at: ObjectName): Stored | undefined {
    const entry = this.kinds.find(kind)
    return entry && this.#shelf(entry).objects.get(storeKeyOf(entry, at))
  }

  /** @throws KubeRefusal 404 */
  get(kind: string, at: ObjectName): Stored {
    const found = this.find(kind, at)
    if (!found) throw refusals.objectNotFound(this.kinds.get(kind), at.name)
    return found
  }

  /** Sorted by namespace and name. */
  list(kind: string, options: KubeListOptions = {}): Stored[] {
    const entry = this.kinds.find(kind)
    if (!entry) return []
    const shelf = this.#shelf(entry)
    shelf.sorted ??= [...shelf.objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
    // A list of all that is not the shelf's own: callers may keep it.
    return shelf.sorted.filter(makeSelector(options, entry))
  }

  /**
   * The objects as they were at an earlier resourceVersion, sorted as a list.
   *
   * @throws KubeRefusal 410 when later changes have been forgotten
   */
  listAt(kind: string, version: number, options: KubeListOptions = {}): Stored[] {
    const entry = this.kinds.get(kind)
    const { objects, log } = this.#shelf(entry)
    const then = new Map(objects)
    for (const { before, after } of log.changesAfter(version).reverse()) {
      const key = storeKeyOf(entry, after.metadata)
      if (before) then.set(key, before)
      else then.delete(key)
    }
    const sorted = [...then].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
    return sorted.filter(makeSelector(options, entry))
  }

  /** @throws KubeRefusal 400, 403, 404, 409, 422 */
  create(kind: string, sent: unknown, options: CreateOptions = {}): Stored {
    return this.#createAs(kind, sent, options)
  }

  #createAs(kind: string, sent: unknown, options: CreateOptions & RecordedWrite): Stored {
    const { isDryRun = false, needsNamespace = false } = options
    const entry = this.kinds.get(kind)
    const version = versionOfWrite(entry, sent, options.version)
    const object = receivedObject(entry, version, sent)
    const from = sentMetadata(object)
    if (from['resourceVersion'] !== undefined && from['resourceVersion'] !== '')
      throw refusals.badRequest('resourceVersion should not be set on objects to be created')
    const metadata = this.#newMetadata(entry, from)
    const rest = dropsStatusOnCreate(entry, version) ? withoutMembers(object, 'status') : object
    const made = admitObject(entry, version, { ...rest, metadata: metadata as unknown as JsonMembers })
    this.#checkPlace(entry, metadata, needsNamespace)
    this.#check({ entry, version }, made, {}, metadataErrors(made['metadata'] as JsonMembers, entry))
    const judged = this.#judge(storedVersion(entry, made))
    this.#admit(entry, { before: undefined, after: judged })
    if (this.find(kind, metadata)) throw refusals.alreadyExists(entry, metadata.name)
    const { namespace: name } = metadata
    if (name !== undefined && !isDryRun && !this.find('Namespace', { name }))
      this.create('Namespace', { metadata: { name } })
    const managed = withManagers(judged, this.#managersAfter({ entry, version }, undefined, judged, options))
    const written = this.#write(undefined, managed, isDryRun)
    if (entry.resource === 'events' && !isDryRun) this.#dropOldEvents(entry)
    return written
  }

  /**
   * Applies to an object, which is made where it is missing.
   *
   * @throws KubeRefusal 400, 404, 409 for fields of others, 422
   */
  apply(kind: string, at: ObjectName, applied: JsonMembers, options: ApplyOptions): { object: Stored; isNew: boolean } {
    const entry = this.kinds.get(kind)
    const version = versionOfWrite(entry, applied, options.version)
    const shape = objectShape(entry, version)
    const { isForced = false, subresource, ...write } = options
    const { manager } = options
    let managers: ManagedFieldsEntry[] = []
    const applyTo = (live: Stored | undefined): JsonMembers => {
      const result = appliedTo(live, applied, shape, writer)
      managers = result.managers
      return result.object
    }
    const found = this.find(kind, at)
    // The installation of an operator takes over the definitions that ironstage brings.
    const takesUnowned = found !== undefined && isDefinition(found)
    const own = this.#writer(entry, { version, subresource, operation: 'Apply', manager })
    const writer = { ...own, isForced, takesUnowned }
    if (found) {
      const object = this.#changeAs(kind, at, applyTo, {
        ...write,
        ...defined({ subresource }),
        managers: () => managers,
      })
      return { object, isNew: false }
    }
    if (subresource) throw refusals.objectNotFound(entry, at.name)
    const object = applyTo(undefined)
    return {
      object: this.#createAs(kind, object, { ...write, needsNamespace: true, managers: () => managers }),
      isNew: true,
    }
  }

  #writer({ group }: KindEntry, { version, manager = OWN_MANAGER, operation, subresource }: WriterParts): FieldWriter {
    const apiVersion = groupVersion(group, version.name)
    return { manager, operation, apiVersion, time: this.#now(), ...defined({ subresource }) }
  }

  /** `managedFields` after a write; undefined where no manager is recorded. */
  #managersAfter(
    { entry, version }: { entry: KindEntry; version: KindVersion },
    before: Stored | undefined,
    after: JsonMembers,
    { manager, managers, subresource }: RecordedWrite,
  ): ManagedFieldsEntry[] | undefined {
    if (managers) return managers()
    if (manager === undefined && !before?.metadata.managedFields) return undefined
    const writer = this.#writer(entry, { version, subresource, operation: 'Update', ...defined({ manager }) })
    return managersAfterUpdate(before, after, objectShape(entry, version), writer)
  }

  /** A definition with the status that follows from it; other objects stay as they are. */
  #judge(object: Stored): Stored {
    return isDefinition(object) ? this.#defined.judged(object, this.#now()) : object
  }

  /** @throws KubeRefusal 404 for a namespace that is not there, 403 for one that ends, or for a kind that ends */
  #checkPlace(entry: KindEntry, { name, namespace }: StoredMeta, isNeeded: boolean): void {
    if (this.#definitionOf(entry)?.metadata.deletionTimestamp !== undefined) throw refusals.kindTerminating(entry, name)
    if (!entry.isNamespaced || typeof namespace !== 'string') return
    const found = this.find('Namespace', { name: namespace })
    if (!found && isNeeded) throw refusals.objectNotFound(this.kinds.get('Namespace'), namespace)
    if (found?.metadata.deletionTimestamp !== undefined) throw refusals.namespaceTerminating(entry, name, namespace)
  }

  #definitionOf({ isCustom, resource }: KindEntry): Stored | undefined {
    return isCustom ? this.find(DEFINITIONS, { name: resource }) : undefined
  }

  /** An API server drops events after an hour. Lab time may jump over hours: here the oldest go when there are many. */
  #dropOldEvents(entry: KindEntry): void {
    const { objects } = this.#shelf(entry)
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
  change(kind: string, at: ObjectName, modify: (current: Stored) => unknown, options: ChangeOptions = {}): Stored {
    return this.#changeAs(kind, at, modify, options)
  }

  #changeAs(
    kind: string,
    at: ObjectName,
    modify: (current: Stored) => unknown,
    options: ChangeOptions & RecordedWrite,
  ): Stored {
    const { subresource, isUnconditional = true, isDryRun = false } = options
    const entry = this.kinds.get(kind)
    const current = this.get(kind, at)
    const shown = options.version === undefined ? current : inVersion(entry, current, options.version)
    const wanted = modify(shown)
    const version = versionOfWrite(entry, wanted, options.version)
    if (subresource && !version.hasStatus) throw refusals.noSuchResource()
    const sent = receivedObject(entry, version, wanted)
    const from = sentMetadata(sent)
    this.#checkSame(entry, current, from, isUnconditional)

    const metadata = subresource ? current.metadata : changedMetadata(current.metadata, from)
    const body = writtenBody({ current, sent, hasStatus: version.hasStatus, subresource })
    const admitted = admitObject(entry, version, { ...body, metadata: metadata as unknown as JsonMembers })
    const next = sharing(this.#judgeValid(entry, storedVersion(entry, admitted)), current)
    const before = subresource ? current : withManagers(current, managersSent(from['managedFields'], current))
    const isSame = isSameJson(next, current)
    const managers = this.#managersAfter({ entry, version }, before, next, options)
    if (isSame && isSameJson(managers, current.metadata.managedFields)) return current
    this.#check(
      { entry, version },
      { ...next, apiVersion: admitted['apiVersion']! },
      { before: current, subresource },
      [
        ...(subresource ? [] : metadataErrors(next['metadata'] as JsonMembers, entry)),
        ...newFinalizersErrors(current.metadata, metadata),
        ...(subresource ? [] : identityErrors(current.metadata, from)),
      ],
    )
    if (!subresource) this.#admit(entry, { before: current, after: next as unknown as Stored })
    const isSpecChanged = !isSameJson(
      withoutMembers(next, 'metadata', 'status', 'apiVersion'),
      withoutMembers(current, 'metadata', 'status', 'apiVersion'),
    )
    const counted = isSpecChanged ? countedChange(metadata) : metadata
    const written = withManagers({ ...next, metadata: counted } as unknown as Stored, managers)
    const isReleased = metadata.deletionTimestamp !== undefined && !metadata.finalizers
    // A namespace also waits for what is in it.
    if (isReleased && entry.resource !== 'namespaces') return this.#remove(current, written, isDryRun)
    const after = this.#write(current, written, isDryRun)
    if (isReleased && !isDryRun) this.#endIfEmpty(at.name)
    return after
  }

  /**
   * Deletes an object, or marks one that has finalizers; gives its last state.
   *
   * @throws KubeRefusal 404, 409
   */
  delete(kind: string, at: ObjectName, options: DeleteOptions = {}): Stored {
    const { preconditions = {}, orphansDependents = false, isDryRun = false } = options
    const entry = this.kinds.get(kind)
    const current = this.get(kind, at)
    const { metadata } = current
    for (const [field, name] of [
      ['uid', 'UID'],
      ['resourceVersion', 'ResourceVersion'],
    ] as const) {
      const wanted = preconditions[field]
      if (wanted === undefined || wanted === metadata[field]) continue
      const why = `Precondition failed: ${name} in precondition: ${wanted}, ${name} in object meta: ${metadata[field]}`
      throw refusals.conflictRefusal(entry, at.name, why)
    }
    this.#admit(entry, { before: current, after: undefined })
    if (entry.resource === 'namespaces') return isDryRun ? current : this.#terminate(entry, current)
    if (isDefinition(current)) return isDryRun ? current : this.#terminateDefinition(current)
    if (orphansDependents && !isDryRun) this.#orphan(metadata.uid)
    if (!metadata.finalizers) return this.#remove(current, current, isDryRun)
    if (metadata.deletionTimestamp !== undefined) return current
    const marked = { ...countedChange(metadata), deletionTimestamp: this.#now() }
    return this.#write(current, { ...current, metadata: marked } as unknown as Stored, isDryRun)
  }

  /**
   * Changes after a resourceVersion; without one (or with `0`) first the objects that are there.
   *
   * @throws KubeRefusal 400, 404, 410
   */
  watch(kind: string, options: KubeListOptions & { resourceVersion?: string } = {}): ObjectWatch {
    const { resourceVersion = '' } = options
    const entry = this.kinds.get(kind)
    const selects = makeSelector(options, entry)
    const { log } = this.#shelf(entry)
    if (resourceVersion === '' || resourceVersion === '0')
      return openWatch(log, this.list(kind, options), this.#version, selects)
    if (!/^\d{1,15}$/.test(resourceVersion))
      throw refusals.badRequest(`Invalid value: "${resourceVersion}": resourceVersion`)
    return openWatch(log, [], Number(resourceVersion), selects)
  }

  #newMetadata({ isNamespaced, hasGeneration }: KindEntry, sent: JsonMembers): StoredMeta {
    const { name, generateName, namespace } = sent
    const prefix = typeof generateName === 'string' ? generateName : ''
    return {
      // Wrong types are found by the check of what is made of it.
      name: (name === undefined || name === '' ? prefix && `${prefix}${this.#suffix()}` : name) as string,
      ...defined({
        generateName: prefix === '' ? undefined : prefix,
        namespace: isNamespaced ? ((namespace ?? DEFAULT_NAMESPACE) as string) : undefined,
        generation: hasGeneration ? 1 : undefined,
      }),
      uid: this.makeUid(),
      resourceVersion: '',
      creationTimestamp: this.#now(),
      ...pickSettable(sent),
    }
  }

  makeUid(): string {
    return randomUuid(this.#parts.random)
  }

  /** apimachinery pkg/util/rand: letters and digits that make no words. */
  #suffix(): string {
    return [...this.#parts.random.bytes(5)].map((byte) => SUFFIX[byte % SUFFIX.length]).join('')
  }

  #now(): string {
    return `${new Date(this.#parts.clock.now()).toISOString().slice(0, 19)}Z`
  }

  #checkSame(kind: KindEntry, { metadata }: Stored, sent: JsonMembers, isUnconditional: boolean): void {
    const { name, namespace = metadata.namespace, uid = metadata.uid, resourceVersion = '' } = sent
    if (name !== metadata.name)
      throw refusals.badRequest(
        `the name of the object (${String(name)}) does not match the name on the URL (${metadata.name})`,
      )
    if (kind.isNamespaced && namespace !== metadata.namespace)
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
    { entry, version }: { entry: KindEntry; version: KindVersion },
    object: JsonMembers,
    { before, subresource }: { before?: Stored; subresource?: 'status' | undefined },
    found: readonly refusals.FieldError[],
  ): void {
    const ofSchema = this.#parts.validate?.(version, object, subresource) ?? []
    const errors = [...found, ...coreErrors(entry, object, before), ...ofSchema]
    // The rules of a definition read what its schema has accepted.
    if (isDefinition(object) && ofSchema.length === 0 && !subresource) errors.push(...definitionErrors(object, before))
    const { name } = object['metadata'] as { name?: unknown }
    if (errors.length > 0) throw refusals.invalidObject(entry, typeof name === 'string' ? name : '', errors)
  }

  /** The writes that some work makes, or would make in a dry run. Those that only change a status are not among them. */
  observeWrites(work: () => void): ObservedWrite[] {
    const writes: ObservedWrite[] = []
    this.#observe = (write) => writes.push(write)
    try {
      work()
    } finally {
      this.#observe = undefined
    }
    return writes
  }

  #admit(entry: KindEntry, write: Omit<AdmittedWrite, 'kind'>): void {
    this.#observe?.({ entry, ...write })
    const asked: AdmittedWrite = { kind: this.kinds.nameOf(entry), ...write }
    const broken = this.#parts.policies?.find((policy) => policy.kind === asked.kind && policy.refuses(asked, this))
    if (broken) {
      const message = typeof broken.message === 'string' ? broken.message : broken.message(this)
      throw refusals.brokenPolicy(entry, (write.after ?? write.before)!.metadata.name, {
        message,
        ...defined({ name: broken.name, at: broken.at?.(asked) }),
      })
    }
    const refusal = this.#parts.webhooks?.(asked, this)
    if (refusal !== undefined) throw refusals.deniedByWebhook(entry, refusal)
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
    if (isDefinition(after)) this.#defined.written(after)
    return after
  }

  /** @throws KubeRefusal 413, 507; an object that shrinks is always taken, so that room can be made */
  #checkRoom(object: Stored, size: number): void {
    const { entry, sizes } = this.#shelfOf(object)
    const grows = size - (sizes.get(storeKeyOf(entry, object.metadata)) ?? 0)
    if (grows <= 0) return
    if (size > MAX_OBJECT) throw refusals.objectTooLarge()
    if (this.#size + grows > (this.#parts.capacity ?? CAPACITY)) throw refusals.storeFull()
  }

  #put(object: Stored, size: number): void {
    const shelf = this.#shelfOf(object)
    const { entry, objects, sizes } = shelf
    const key = storeKeyOf(entry, object.metadata)
    this.#size += size - (sizes.get(key) ?? 0)
    objects.set(key, object)
    sizes.set(key, size)
    shelf.sorted = undefined
  }

  #remove(before: Stored, object: Stored, isDryRun: boolean): Stored {
    if (isDryRun) return object
    const resourceVersion = String(this.#version + 1)
    const after = freezeJson({ ...object, metadata: { ...object.metadata, resourceVersion } }) as Stored
    this.#parts.file?.keep(after, true)
    this.#version++
    const shelf = this.#shelfOf(after)
    const key = storeKeyOf(shelf.entry, after.metadata)
    this.#size -= shelf.sizes.get(key) ?? 0
    shelf.objects.delete(key)
    shelf.sizes.delete(key)
    shelf.sorted = undefined
    this.#record(before, after, true)
    const { namespace } = after.metadata
    if (namespace !== undefined && !this.#isEmptying) this.#endIfEmpty(namespace)
    if (isDefinition(after)) this.#dropKind(after)
    else if (!this.#isEmptying) this.#endKindIfEmpty(shelf.entry)
    return after
  }

  #record(before: Stored | undefined, after: Stored, isDeleted: boolean): void {
    const { log, objects } = this.#shelfOf(after)
    log.add({ resourceVersion: resourceVersionOf(after), before, after, isDeleted }, objects.size)
    this.#garbage.changed(before, isDeleted ? undefined : after)
  }

  /** Ends a namespace: it takes nothing any more, and goes with the last of its objects. */
  #terminate(entry: KindEntry, current: Stored): Stored {
    const { name } = current.metadata
    if (LASTING_NAMESPACES.has(name)) throw refusals.namespaceStays(entry, name)
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
      for (const { resource } of this.#namespacedKinds())
        for (const { metadata } of this.list(resource, { namespace }))
          if (metadata.deletionTimestamp === undefined) ifAllowed(() => void this.delete(resource, metadata))
    } finally {
      this.#isEmptying = false
    }
  }

  #namespacedKinds(): readonly KindEntry[] {
    return this.kinds.all().filter(({ isNamespaced }) => isNamespaced)
  }

  /** Removes a namespace that ends, once nothing is in it. */
  #endIfEmpty(name: string): void {
    const found = this.find('Namespace', { name })
    if (found?.metadata.deletionTimestamp === undefined) return
    this.#emptyNamespace(name)
    if (found.metadata.finalizers) return
    const isFilled = this.#namespacedKinds().some(({ resource }) => this.list(resource, { namespace: name }).length > 0)
    if (!isFilled) this.#remove(found, found, false)
    for (const { metadata } of this.list(DEFINITIONS)) {
      const entry = this.kinds.find(metadata.name)
      if (entry) this.#endKindIfEmpty(entry)
    }
  }

  #endEmptyNamespaces(): void {
    for (const { metadata } of this.list('Namespace')) this.#endIfEmpty(metadata.name)
  }

  /** Ends a kind: it takes no new objects, and goes with the last of them. */
  #terminateDefinition(current: Stored): Stored {
    if (current.metadata.deletionTimestamp !== undefined) return current
    const now = this.#now()
    const finalizers = [...(current.metadata.finalizers ?? []), CLEANUP_FINALIZER]
    const metadata = { ...countedChange(current.metadata), deletionTimestamp: now, finalizers }
    const marked = { ...terminatingDefinition(current, now), metadata } as unknown as Stored
    const ending = this.#write(current, marked, false)
    const entry = this.kinds.find(current.metadata.name)
    if (entry) this.#emptyKind(entry)
    return ending
  }

  #emptyKind(entry: KindEntry): void {
    this.#isEmptying = true
    try {
      for (const { metadata } of this.list(entry.resource))
        if (metadata.deletionTimestamp === undefined) ifAllowed(() => void this.delete(entry.resource, metadata))
    } finally {
      this.#isEmptying = false
    }
    this.#endKindIfEmpty(entry)
    this.#endEmptyNamespaces()
  }

  /** Releases a definition that is deleted, once none of its objects is left. */
  #endKindIfEmpty(entry: KindEntry): void {
    const definition = this.#definitionOf(entry)
    if (definition?.metadata.deletionTimestamp === undefined || this.list(entry.resource).length > 0) return
    const remaining = definition.metadata.finalizers?.filter((each) => each !== CLEANUP_FINALIZER) ?? []
    const { finalizers: _, ...metadata } = definition.metadata
    if (remaining.length === 0) this.#remove(definition, { ...definition, metadata } as unknown as Stored, false)
    else {
      const waiting = { ...definition, metadata: { ...metadata, finalizers: remaining } } as unknown as Stored
      this.#write(definition, waiting, false)
    }
  }

  /** Forgets a kind with its definition, and lets another have its names. */
  #dropKind({ metadata: { name } }: Stored): void {
    const shelf = this.#shelves.get(name)
    this.#isEmptying = true
    // Those of a definition whose finalizers a client has taken away.
    for (const object of shelf?.objects.values() ?? []) this.#remove(object, object, false)
    this.#isEmptying = false
    shelf?.log.end()
    // A client of a kind that is defined again has to learn that the objects of before are gone.
    this.#firstVersion = this.#version
    this.#shelves.delete(name)
    this.kinds.remove(name)
    for (const waiting of this.list(DEFINITIONS).filter((each) => !this.kinds.find(each.metadata.name)))
      ifAllowed(() => void this.change(DEFINITIONS, waiting.metadata, (current) => current))
    this.#endEmptyNamespaces()
  }

  /** Judges a definition whose form is right; one that is not is refused a little later. */
  #judgeValid(entry: KindEntry, object: Stored): Stored {
    if (!isDefinition(object) || entry.storage.schema.errorsOf(object).length > 0) return object
    return definitionErrors(object, undefined).length > 0 ? object : this.#judge(object)
  }

  #orphan(uid: string): void {
    for (const place of this.#garbage.dependentsOf(uid))
      this.change(place.resource, place, (current) => {
        const ownerReferences = current.metadata.ownerReferences!.filter((each) => each.uid !== uid)
        return { ...current, metadata: { ...current.metadata, ownerReferences } }
      })
  }
}

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

/** Does something that an admission webhook may refuse; it is tried again when something else has changed. */
function ifAllowed(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof KubeRefusal)) throw error
  }
}

const SUFFIX = 'bcdfghjklmnpqrstvwxz2456789'

/** Metadata after a change that its generation counts, if it has one. */
const countedChange = (metadata: Readonly<StoredMeta>): Readonly<StoredMeta> =>
  metadata.generation === undefined ? metadata : { ...metadata, generation: metadata.generation + 1 }

/** With the members that have not changed as they are in the present object, which is frozen already. */
const sharing = (next: JsonMembers, current: JsonMembers): JsonMembers =>
  Object.fromEntries(
    Object.entries(next).map(([name, value]) => [name, isSameJson(value, current[name]) ? current[name]! : value]),
  )

const storeKeyOf = ({ isNamespaced }: KindEntry, { name, namespace }: ObjectName): string =>
  isNamespaced ? `${namespace ?? DEFAULT_NAMESPACE}/${name}` : name

const isDefinition = ({ apiVersion, kind }: JsonMembers): boolean =>
  kind === 'CustomResourceDefinition' && String(apiVersion).startsWith('apiextensions.k8s.io/')

/** Fields that this process sets are those of this manager. */
const OWN_MANAGER = 'ironstage'

/** The record of a write: its manager, or all of them after it. */
interface RecordedWrite {
  manager?: string
  managers?: () => ManagedFieldsEntry[]
  subresource?: 'status'
}

interface WriterParts {
  version: KindVersion
  manager?: string
  operation: FieldWriter['operation']
  subresource: 'status' | undefined
}

function withManagers(object: Stored, managers: ManagedFieldsEntry[] | undefined): Stored {
  const { managedFields: _, ...metadata } = object.metadata
  const isEmpty = managers === undefined || managers.length === 0
  const recorded = { ...metadata, ...defined({ managedFields: isEmpty ? undefined : managers }) }
  return { ...object, metadata: recorded } as unknown as Stored
}
