import { isMembers, setMember, type JsonMembers, type KubeJson } from '../kube-json.js'
import type { FieldError } from '../refusals.js'
import type { CrdSchema } from './crd-schemas.js'

/**
 * Items that sets, and lists with keys, have twice: apiextensions-apiserver pkg/apiserver/schema/listtype/validation.go.
 *
 * @param at path of the value, empty for a whole object
 */
export function duplicateItems(value: KubeJson | undefined, schema: CrdSchema, at = ''): FieldError[] {
  if (Array.isArray(value)) {
    const list = value as readonly KubeJson[]
    const { items = {} } = schema
    const below = list.flatMap((each, index) => duplicateItems(each, items, `${at}[${index}]`))
    return [...twiceIn(list, schema, at), ...below]
  }
  if (!isMembers(value)) return []
  const { properties = {}, additionalProperties } = schema
  return Object.entries(value).flatMap(([name, member]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    return typeof field === 'object' ? duplicateItems(member, field, at === '' ? name : `${at}.${name}`) : []
  })
}

function twiceIn(list: readonly KubeJson[], schema: CrdSchema, at: string): FieldError[] {
  const listType = schema['x-kubernetes-list-type']
  if (listType !== 'set' && listType !== 'map') return []
  const seen = new Set<string>()
  return list.flatMap((item, index): FieldError[] => {
    const value = listType === 'set' ? item : keysOf(item, schema['x-kubernetes-list-map-keys'] ?? [])
    const text = JSON.stringify(value)
    if (!seen.has(text)) {
      seen.add(text)
      return []
    }
    return [{ field: `${at}[${index}]`, reason: 'FieldValueDuplicate', value }]
  })
}

function keysOf(item: KubeJson, keys: readonly string[]): JsonMembers {
  const own = {}
  for (const key of [...keys].sort()) setMember(own, key, (isMembers(item) ? item[key] : undefined) ?? null)
  return own
}
