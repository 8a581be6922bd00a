import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../../../base/runtime/index.js'
import type { ActorParts, KubeKind, KubeKinds, KubeObject, NewObject } from '../../../../base/kubernetes/index.js'
import type { ReleaseManifest, ManifestObject, ReleasePayload } from '../../site/site-releases.js'
import { APPLIES_IN_ORDER, WAITS_FOR_OPERATORS } from './cluster-version-behaviours.js'
import { operatorProblem, type UnhealthyOperator } from './operator-health.js'
import { runLevels, groupUnordered, type ManifestGroup } from './run-levels.js'

/** How far a release is applied. */
export interface Applied {
  done: number
  total: number
  /** Operators of the run level that it has got to. */
  waitsFor: readonly UnhealthyOperator[]
}

/** Applies manifests in the order of their run levels, up to the first one whose operators are not there yet. */
export async function applyRelease(payload: ReleasePayload, parts: ActorParts): Promise<Applied> {
  const { behaviours } = parts
  const { version, manifests } = payload
  const levels = behaviours.has(APPLIES_IN_ORDER) ? runLevels(manifests) : groupUnordered(manifests)
  let done = 0
  for (const level of levels) {
    const waitsFor: UnhealthyOperator[] = []
    for (const group of level) {
      const { applied, problem } = await applyGroup(group, version, parts)
      done += applied
      if (problem) waitsFor.push(problem)
    }
    if (waitsFor.length > 0) return { done, total: manifests.length, waitsFor }
  }
  return { done, total: manifests.length, waitsFor: [] }
}

async function applyGroup(
  { name, manifests }: ManifestGroup,
  version: string,
  parts: ActorParts,
): Promise<{ applied: number; problem?: UnhealthyOperator }> {
  const { kube, clock, behaviours, announce } = parts
  let applied = 0
  let isNews = true
  for (const { object } of manifests) {
    if ((await applyManifest(object, parts)) && isNews) {
      isNews = false
      const actor = 'cluster-version-operator'
      announce({ actor, does: `applies ${name}`, because: `it is in the payload of ${version}` })
    }
    if (object.kind === 'ClusterOperator' && behaviours.has(WAITS_FOR_OPERATORS)) {
      const operator = await kube.find('ClusterOperator', object.metadata)
      const problem = operatorProblem(object.metadata.name, operator, object.status?.versions ?? [], clock)
      if (problem) return { applied, problem }
    }
    applied++
  }
  return { applied }
}

/** @returns whether something changed */
async function applyManifest(object: ReleaseManifest['object'], { kube }: ActorParts): Promise<boolean> {
  const { kind, metadata } = object
  const { name, namespace } = metadata
  const current = await kube.find(kind, { name, ...defined({ namespace }) })
  if (!current) {
    await createObject(object, kube)
    return true
  }
  // The operator's own account of itself, of which a manifest says only what is waited for.
  if (kind === 'ClusterOperator') return false
  const wanted = mergeObject(current, object)
  if (isDeepStrictEqual(wanted, current)) return false
  await kube.update(wanted as KubeKinds[KubeKind] & { kind: KubeKind })
  return true
}

async function createObject(object: ManifestObject, kube: ActorParts['kube']): Promise<void> {
  const { status: _, ...rest } = object as ManifestObject & { status?: unknown }
  await kube.create(rest as NewObject<KubeKinds[KubeKind]> & { kind: KubeKind })
}

/**
 * The object with everything that the manifest says, and what others have added to its metadata. Entries that others have
 * added to a ConfigMap stay too (cluster-version-operator 6e71933 lib/resourcemerge/core.go EnsureConfigMap).
 */
function mergeObject(current: KubeObject & MapEntries, { metadata, ...rest }: ManifestObject): KubeObject {
  const { status: _, ...wanted } = rest as typeof rest & { status?: unknown } & MapEntries
  const { labels, annotations } = metadata
  const entries = current.kind === 'ConfigMap' ? mergedEntries(current, wanted) : {}
  return {
    ...current,
    ...wanted,
    ...entries,
    metadata: {
      ...current.metadata,
      ...defined({
        labels: labels ? { ...current.metadata.labels, ...labels } : undefined,
        annotations: annotations ? { ...current.metadata.annotations, ...annotations } : undefined,
      }),
    },
  }
}

/** Members of a ConfigMap whose entries belong to those that have written them. */
type MapEntries = Partial<Record<'data' | 'binaryData', Record<string, string>>>

function mergedEntries({ data: text, binaryData: bytes }: MapEntries, wanted: MapEntries): MapEntries {
  return defined({
    data: wanted.data && { ...text, ...wanted.data },
    binaryData: wanted.binaryData && { ...bytes, ...wanted.binaryData },
  })
}
