import { defined } from '../runtime/index.js'
import type { ObjectName } from './kube-client.js'
import type { OwnerReference } from './object.js'
import type { Stored } from './stored-object.js'

interface ObjectReference extends ObjectName {
  /** The resource of its kind. */
  resource: string
}

/** Changes that the collector asks for; what is gone meanwhile is no error. */
export interface Collected {
  /** Resource of an object's kind. */
  nameOf: (object: Stored) => string
  remove: (resource: string, at: ObjectName, uid: string) => void
  /** Takes references to owners that are gone from an object that others own still. */
  disown: (resource: string, at: ObjectName, remaining: readonly OwnerReference[]) => void
  find: (resource: string, at: ObjectName) => Stored | undefined
}

const referenceKeyOf = ({ resource, namespace = '', name }: ObjectReference): string =>
  `${resource}/${namespace}/${name}`

/**
 * Deletes objects whose owners are all gone, as Kubernetes' garbage collector does: in the background, after a request that removed the
 * last owner or that created the object with owners that do not exist.
 */
export class Garbage {
  readonly #collected: Collected
  readonly #living = new Set<string>()
  readonly #dependents = new Map<string, Map<string, ObjectReference>>()
  readonly #due = new Map<string, ObjectReference>()

  constructor(collected: Collected) {
    this.#collected = collected
  }

  /** Learns of objects that were there before, in no order. */
  restore(objects: readonly Stored[]): void {
    for (const { metadata } of objects) this.#living.add(metadata.uid)
    for (const object of objects) this.changed(undefined, object)
  }

  /** Learns of a write; `after` is undefined for an object that is gone. */
  changed(before: Stored | undefined, after: Stored | undefined): void {
    const was = before?.metadata.ownerReferences
    const is = after?.metadata.ownerReferences
    if (was !== is) {
      const place = this.#referenceOf((after ?? before)!)
      for (const { uid } of was ?? []) this.#forget(uid, place)
      if (is) {
        for (const { uid } of is) this.#dependentsOf(uid).set(referenceKeyOf(place), place)
        if (!is.every(({ uid }) => this.#living.has(uid))) this.#lookAt([place])
      }
    }
    if (!before && after) this.#living.add(after.metadata.uid)
    if (before && !after) {
      const { uid } = before.metadata
      this.#living.delete(uid)
      this.#lookAt(this.#dependents.get(uid)?.values() ?? [])
    }
  }

  #referenceOf(object: Stored): ObjectReference {
    const { name, namespace } = object.metadata
    return { resource: this.#collected.nameOf(object), name, ...defined({ namespace }) }
  }

  /** Objects that name an owner. */
  dependentsOf(uid: string): ObjectReference[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])]
  }

  #dependentsOf(uid: string): Map<string, ObjectReference> {
    const known = this.#dependents.get(uid) ?? new Map<string, ObjectReference>()
    this.#dependents.set(uid, known)
    return known
  }

  #forget(uid: string, place: ObjectReference): void {
    const known = this.#dependents.get(uid)
    known?.delete(referenceKeyOf(place))
    if (known?.size === 0) this.#dependents.delete(uid)
  }

  #lookAt(places: Iterable<ObjectReference>): void {
    const isIdle = this.#due.size === 0
    for (const place of places) this.#due.set(referenceKeyOf(place), place)
    if (isIdle && this.#due.size > 0) queueMicrotask(() => this.#collect())
  }

  #collect(): void {
    const places = [...this.#due.values()]
    this.#due.clear()
    for (const place of places) {
      const found = this.#collected.find(place.resource, place)
      const owners = found?.metadata.ownerReferences
      if (!found || !owners) continue
      const remaining = owners.filter(({ uid }) => this.#living.has(uid))
      if (remaining.length === 0) this.#collected.remove(place.resource, place, found.metadata.uid)
      else if (remaining.length < owners.length) this.#collected.disown(place.resource, place, remaining)
    }
  }
}
