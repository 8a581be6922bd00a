import { copyJson } from './kube-json.js'
import type { KubeKind, KubeKinds } from './kinds.js'
import type { KubeClient, KubeListOptions, WatchEvent } from './kube-client.js'
import type { KubeObject } from './object.js'
import { ObjectStore, type StoreParts } from './object-store.js'
import { mergePatch } from './patches.js'
import type { Stored } from './stored-object.js'
import { schemaErrors } from './validation.js'
import { eventsOf } from './watch.js'

/** An API of this process: its objects, and the client with which actors use them. */
export interface Kube {
  readonly store: ObjectStore
  readonly client: KubeClient
}

/** A Kubernetes API in this process, empty but for stored objects. */
export function openKube(parts: StoreParts): Kube {
  const store = new ObjectStore({ validate: schemaErrors, ...parts })
  return { store, client: clientOf(store) }
}

// The store checks what it takes against the kind's schema, and gives copies that may be changed.
const asKubeObject = <K extends KubeKind>(stored: Stored): KubeKinds[K] => copyJson(stored) as unknown as KubeKinds[K]
const metadataOf = ({ metadata }: KubeObject) => metadata

function clientOf(store: ObjectStore): KubeClient {
  return {
    get: async (kind, name) => asKubeObject(store.get(kind, name)),
    find: async (kind, name) => {
      const found = store.find(kind, name)
      return found && asKubeObject(found)
    },
    list: async <K extends KubeKind>(kind: K, options?: KubeListOptions) => ({
      items: store.list(kind, options).map((each) => asKubeObject<K>(each)),
      resourceVersion: String(store.resourceVersion),
    }),
    create: async (object) => asKubeObject(store.create(object.kind, object)),
    update: async (object) =>
      asKubeObject(store.change(object.kind, metadataOf(object), () => object, { isUnconditional: false })),
    updateStatus: async (object) =>
      asKubeObject(
        store.change(object.kind, metadataOf(object), () => object, { isUnconditional: false, subresource: 'status' }),
      ),
    patch: async (kind, name, patch) =>
      asKubeObject(store.change(kind, name, (current) => mergePatch(current, copyJson(patch) as never))),
    delete: async (kind, name) => void store.delete(kind, name),
    watch: <K extends KubeKind>(kind: K, { signal, ...options }: Parameters<KubeClient['watch']>[1]) =>
      eventsOf(store.watch(kind, options), signal, ({ type, object }): WatchEvent<K> => ({
        type,
        object: asKubeObject<K>(object),
      })),
  }
}
