import { copyJson, isSameJson, type ObjectName } from '../../base/kubernetes/index.js'

/** The objects of a controller as it saw them last: changes of other members are no reason to reconcile (updateEventHandler). */
export class SeenObjects {
  readonly #seen = new Map<string, readonly unknown[]>()

  /**
   * True if an object came, went, or differs in what its controller reacts to.
   *
   * @param parts of the object that its controller reacts to; undefined if the object does not exist
   */
  hasChanged({ namespace = '', name }: ObjectName, parts: readonly unknown[] | undefined, kind = ''): boolean {
    const key = `${kind}/${namespace}/${name}`
    if (parts === undefined) return this.#seen.delete(key)
    if (isSameJson(this.#seen.get(key), parts)) return false
    this.#seen.set(key, copyJson(parts))
    return true
  }
}
