import type { Store, StoreView } from '../../ironic-mock/index.js'

/** A store with the view of all of its records. */
export type ViewedStore = Store & StoreView

/** Wraps a store, and reports changes of nodes after their commit. */
export function observedStore(store: ViewedStore, changed: (uuid: string) => void): ViewedStore {
  const watched: Partial<ViewedStore> = {
    async commit(change) {
      const revision = await store.commit(change)
      changed(change.node)
      return revision
    },
    async createNode(node) {
      const created = await store.createNode(node)
      changed(created.node.uuid)
      return created
    },
    async removeNode(uuid, expect) {
      await store.removeNode(uuid, expect)
      changed(uuid)
    },
  }
  const bound = new Map<PropertyKey, unknown>()
  return new Proxy(store, {
    get(target, key) {
      const own = watched[key as keyof ViewedStore] ?? bound.get(key)
      if (own !== undefined) return own
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const method: unknown = value.bind(target)
      bound.set(key, method)
      return method
    },
  })
}
