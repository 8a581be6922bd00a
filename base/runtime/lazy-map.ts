/** A map that takes memory with its first entry: most maps of thousands of idle machines have none. */
export class LazyMap<K, V> implements Iterable<[K, V]> {
  #entries: Map<K, V> | undefined

  constructor(entries: Iterable<readonly [K, V]> = []) {
    for (const [key, value] of entries) this.set(key, value)
  }

  get size(): number {
    return this.#entries?.size ?? 0
  }

  get(key: K): V | undefined {
    return this.#entries?.get(key)
  }

  has(key: K): boolean {
    return this.#entries?.has(key) ?? false
  }

  set(key: K, value: V): this {
    this.#entries ??= new Map()
    this.#entries.set(key, value)
    return this
  }

  delete(key: K): boolean {
    const deleted = this.#entries?.delete(key) ?? false
    if (this.#entries?.size === 0) this.#entries = undefined
    return deleted
  }

  clear(): void {
    this.#entries = undefined
  }

  keys(): Iterable<K> {
    return this.#entries?.keys() ?? []
  }

  values(): Iterable<V> {
    return this.#entries?.values() ?? []
  }

  [Symbol.iterator](): Iterator<[K, V]> {
    return (this.#entries ?? new Map<K, V>())[Symbol.iterator]()
  }
}
