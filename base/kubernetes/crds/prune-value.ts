import { isMembers, setMember, type KubeJson } from '../kube-json.js'
import { EMBEDDED_MEMBERS, type CrdSchema } from './crd-schemas.js'

type FieldPath = readonly (string | number)[]

/** A value without the fields that its schema does not have, and where those were, in the order of their names. */
export interface PrunedValue {
  value: KubeJson
  unknown: readonly FieldPath[]
}

/** Prunes a value as an API server does before it validates it: apiextensions-apiserver pkg/apiserver/schema/pruning. */
export function pruneValue(value: KubeJson, schema: CrdSchema): PrunedValue {
  const unknown: FieldPath[] = []
  const pruned = new Pruning(unknown).prune(value, schema, [])
  const byText = unknown.map((path) => ({ path, text: fieldPathText(path) }))
  byText.sort((a, b) => (a.text < b.text ? -1 : 1))
  return { value: pruned, unknown: byText.map(({ path }) => path) }
}

/** `spec.raid.softwareRAIDVolumes[0].size` */
export const fieldPathText = (path: FieldPath): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, '')

class Pruning {
  readonly #unknown: FieldPath[]

  constructor(unknown: FieldPath[]) {
    this.#unknown = unknown
  }

  prune(value: KubeJson, schema: CrdSchema, path: FieldPath): KubeJson {
    if (Array.isArray(value)) {
      const { items } = schema
      const list = value as readonly KubeJson[]
      return items ? list.map((each, index) => this.prune(each, items, [...path, index])) : value
    }
    if (!isMembers(value)) return value
    const pruned = {}
    for (const [name, member] of Object.entries(value)) {
      const field = fieldOf(schema, name)
      if (field === 'unknown') this.#unknown.push([...path, name])
      else setMember(pruned, name, field === 'any' ? member : this.prune(member, field, [...path, name]))
    }
    return pruned
  }
}

const PRESERVES = 'x-kubernetes-preserve-unknown-fields'

function fieldOf(schema: CrdSchema, name: string): CrdSchema | 'any' | 'unknown' {
  const { properties = {}, additionalProperties } = schema
  if (schema['x-kubernetes-embedded-resource'] === true && Object.hasOwn(EMBEDDED_MEMBERS, name))
    return EMBEDDED_MEMBERS[name]!
  const field = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
  if (field === true) return 'any'
  return field || (schema[PRESERVES] === true ? 'any' : 'unknown')
}
