import type { CrdSchema } from '../crds/crd-schemas.js'
import { isMembers, type KubeJson } from '../kube-json.js'
import type { KindEntry, KindVersion } from '../kinds/kind-entry.js'
import { CORE_MERGE_RULES, METADATA_MERGE_RULES, type MergeRule } from '../kinds/merge-rules.js'

/** The way in which a value is owned: as one, or part by part. */
type Ownership = 'leaf' | 'fields' | 'items' | 'set'

/** How the fields of a place in an object are owned, and its lists merged. */
export interface FieldShape {
  ownershipOf(value: KubeJson): Ownership
  /** Members of an item that say which one it is, with the value of one that is left out. */
  readonly keys: Readonly<Record<string, KubeJson | undefined>>
  field(name: string): FieldShape
  /** True for a field that the schema names; others are entries of a map. */
  names(field: string): boolean
  item(): FieldShape
}

/** A place of which no schema says anything: lists are owned as one. */
const ANY_SHAPE: FieldShape = {
  ownershipOf: (value) => (isMembers(value) ? 'fields' : 'leaf'),
  keys: {},
  field: () => ANY_SHAPE,
  names: () => false,
  item: () => ANY_SHAPE,
}

/** The shape of a kind's objects in a version. */
export function objectShape({ isCustom, kind }: KindEntry, { schema }: KindVersion): FieldShape {
  const body = isCustom ? crdShape(schema.fields) : ruledShape(CORE_MERGE_RULES[kind] ?? {}, '')
  const metadata = ruledShape(METADATA_MERGE_RULES, '')
  return {
    ownershipOf: () => 'fields',
    keys: {},
    field: (name) => (name === 'metadata' ? metadata : body.field(name)),
    names: (name) => name === 'metadata' || body.names(name),
    item: () => ANY_SHAPE,
  }
}

function crdShape(schema: CrdSchema): FieldShape {
  const { properties = {}, additionalProperties, items = {} } = schema
  const listType = schema['x-kubernetes-list-type']
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic'
  const names = (field: string): boolean => Object.hasOwn(properties, field)
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => [key, items.properties?.[key]?.default])
  return {
    ownershipOf: (value) => {
      if (Array.isArray(value)) return listType === 'map' ? 'items' : listType === 'set' ? 'set' : 'leaf'
      return isMembers(value) && !isAtomic ? 'fields' : 'leaf'
    },
    keys: Object.fromEntries(keys) as Record<string, KubeJson | undefined>,
    field: (name) => {
      if (names(name)) return crdShape(properties[name]!)
      return typeof additionalProperties === 'object' ? crdShape(additionalProperties) : ANY_SHAPE
    },
    names,
    item: () => crdShape(items),
  }
}

/** A kind of Kubernetes itself: rules for some of its places; all fields are named. */
function ruledShape(rules: Readonly<Record<string, MergeRule>>, path: string): FieldShape {
  const rule = Object.hasOwn(rules, path) ? rules[path] : undefined
  return {
    ownershipOf: (value) => {
      if (Array.isArray(value))
        return rule === undefined || rule === 'atomic' ? 'leaf' : rule === 'set' ? 'set' : 'items'
      return isMembers(value) && rule !== 'atomic' ? 'fields' : 'leaf'
    },
    keys: typeof rule === 'object' ? rule : {},
    field: (name) => ruledShape(rules, path === '' ? name : `${path}.${name}`),
    names: () => rule !== 'map',
    item: () => ruledShape(rules, `${path}[]`),
  }
}
