import { isRefusal, type ObjectName, type StoredObject } from '../../../base/kubernetes/index.js'
import { hours, seconds } from '../../../base/runtime/index.js'
import type { Acted } from './acted.js'
import type { NamedKind } from './kind-names.js'
import { entryNamed, objectAt, objectNamed } from './named-objects.js'
import type { RehearsedCluster } from './rehearsed-cluster.js'
import type { ScenarioObject } from './scenario-manifests.js'

const MANAGER = 'kubectl'
/** kubectl waits for finalizers without an end. */
const DELETION_TIMEOUT = hours(24)
const DELETION_POLL_INTERVAL = seconds(5)

const objectsOf = (file: string, { scenario }: RehearsedCluster): readonly ScenarioObject[] =>
  scenario.manifests?.[file] ?? []

/** Applies the objects of a file as `kubectl apply --server-side` does; a refusal ends the story. */
export function applyManifests(file: string, cluster: RehearsedCluster): Acted {
  const { objects } = cluster
  for (const object of objectsOf(file, cluster)) {
    const { kind, apiVersion, metadata } = object
    const entry = objects.kinds.ofObject(object)
    if (!entry)
      return {
        failure: `${file}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
      }
    const at = objectAt(entry, metadata)
    const sent = { ...object, metadata: { ...metadata, ...at } }
    const failure = unlessRefused(file, () =>
      objects.apply(entry.resource, at, sent as never, { manager: MANAGER, isForced: true }),
    )
    if (failure !== undefined) return { failure }
  }
  return {}
}

/** Deletes the objects of a file, and waits until they have gone, as `kubectl delete` does. */
export async function deleteManifests(file: string, cluster: RehearsedCluster): Promise<Acted> {
  for (const object of objectsOf(file, cluster)) {
    const entry = cluster.objects.kinds.ofObject(object)
    if (!entry) return { failure: `${file}: there is no kind ${object.kind}` }
    const acted = await deleteAt(objectAt(entry, object.metadata), entry, file, cluster)
    if (acted.failure !== undefined) return acted
  }
  return {}
}

/** Deletes an object, `KIND/NAME`, and waits until it has gone. */
export async function deleteNamed(reference: string, cluster: RehearsedCluster): Promise<Acted> {
  const found = objectNamed(cluster, reference)
  const entry = found && cluster.objects.kinds.ofObject(found)
  if (!entry) return { failure: `there is no ${reference} to delete` }
  return deleteAt(objectAt(entry, found.metadata), entry, reference, cluster)
}

async function deleteAt(at: ObjectName, entry: NamedKind, what: string, cluster: RehearsedCluster): Promise<Acted> {
  const { objects, clock } = cluster
  const deleted = objects.find(entry.resource, at)?.metadata.uid
  const failure = unlessRefused(what, () => objects.delete(entry.resource, at))
  if (failure !== undefined) return { failure }
  const gone = async (): Promise<boolean> => {
    const end = clock.now() + DELETION_TIMEOUT
    // Another object of that name may have been made meanwhile.
    while (objects.find(entry.resource, at)?.metadata.uid === deleted) {
      if (clock.now() >= end) return false
      await clock.sleep(DELETION_POLL_INTERVAL)
    }
    return true
  }
  return (await cluster.until(gone())) ? {} : { failure: `after a day ${entryNamed(entry, at)} is still there` }
}

/** Writes or removes an annotation, as `kubectl annotate --overwrite` does. */
export function annotateObject(
  { annotate, key, value }: { annotate: string; key: string; value?: string },
  cluster: RehearsedCluster,
): Acted {
  const { objects } = cluster
  const found = objectNamed(cluster, annotate)
  const entry = found && objects.kinds.ofObject(found)
  if (!entry) return { failure: `there is no ${annotate} to annotate` }
  const annotated = (current: StoredObject): object => {
    const { [key]: _, ...others } = current.metadata.annotations ?? {}
    const annotations = value === undefined ? others : { ...others, [key]: value }
    return { ...current, metadata: { ...current.metadata, annotations } }
  }
  const failure = unlessRefused(annotate, () => objects.change(entry.resource, found.metadata, annotated))
  return failure === undefined ? {} : { failure }
}

/** The sentence of a refusal by the API. */
function unlessRefused(file: string, write: () => unknown): string | undefined {
  try {
    write()
    return undefined
  } catch (error) {
    for (const code of [400, 403, 404, 409, 422])
      if (isRefusal(error, code)) return `${file}: ${(error as Error).message}`
    throw error
  }
}
