import type { KindEntry } from './kinds/kind-entry.js'
import { isMembers, type JsonMembers, type KubeJson } from './kube-json.js'
import { badRequest } from './refusals.js'
import type { Stored } from './stored-object.js'

/**
 * Fields by which objects of a kind can be selected, besides their name and namespace: kubernetes 1.33
 * pkg/apis/core/v1/conversion.go. A text of two paths is the first of them that is filled.
 */
const SELECTABLE_FIELDS: Readonly<Record<string, Record<string, readonly string[]>>> = {
  Event: {
    'involvedObject.kind': ['involvedObject.kind'],
    'involvedObject.namespace': ['involvedObject.namespace'],
    'involvedObject.name': ['involvedObject.name'],
    'involvedObject.uid': ['involvedObject.uid'],
    'involvedObject.apiVersion': ['involvedObject.apiVersion'],
    'involvedObject.resourceVersion': ['involvedObject.resourceVersion'],
    'involvedObject.fieldPath': ['involvedObject.fieldPath'],
    reason: ['reason'],
    reportingComponent: ['reportingComponent'],
    source: ['source.component', 'reportingComponent'],
    type: ['type'],
  },
  Namespace: { 'status.phase': ['status.phase'] },
  Node: { 'spec.unschedulable': ['spec.unschedulable'] },
  Secret: { type: ['type'] },
}

const EVERY_KIND: Readonly<Record<string, readonly string[]>> = {
  'metadata.name': ['metadata.name'],
  'metadata.namespace': ['metadata.namespace'],
}

/** Kinds of which Kubernetes has no list of fields; their refusal names the two that there are. */
const WITHOUT_LIST: ReadonlySet<string> = new Set(['ConfigMap', 'Deployment', 'Lease'])

/** Paths of the fields by which objects of a kind can be selected. */
function selectableFieldsOf({ isCustom, kind, storage, versions }: KindEntry): Record<string, readonly string[]> {
  if (!isCustom) return Object.hasOwn(SELECTABLE_FIELDS, kind) ? SELECTABLE_FIELDS[kind]! : {}
  const { selectableFields } = versions[0] ?? storage
  return Object.fromEntries(selectableFields.map((path) => [path.slice(1), [path.slice(1)]]))
}

/**
 * Reads a field of an object that a selector names; empty where it is not there.
 *
 * @throws KubeRefusal 400 for a field by which the kind cannot be selected
 */
export function fieldReader(field: string, kind: KindEntry | undefined): (object: Stored) => string {
  const own = kind ? selectableFieldsOf(kind) : {}
  const paths = Object.hasOwn(EVERY_KIND, field)
    ? EVERY_KIND[field]
    : Object.hasOwn(own, field)
      ? own[field]
      : undefined
  if (paths) {
    const parts = paths.map((path) => path.split('.'))
    return (object) => parts.map((path) => textAt(object, path)).find((text) => text !== '') ?? ''
  }
  if (kind && !kind.isCustom && WITHOUT_LIST.has(kind.kind))
    throw badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`)
  throw badRequest(`field label not supported: ${field}`)
}

function textAt(object: JsonMembers, path: readonly string[]): string {
  let value: KubeJson | undefined = object
  for (const part of path) value = isMembers(value) ? value[part] : undefined
  // An absent unschedulable is false, as Go's own objects have it.
  if (value === undefined && path.at(-1) === 'unschedulable') return 'false'
  return ['string', 'boolean', 'number'].includes(typeof value) ? String(value as string) : ''
}
