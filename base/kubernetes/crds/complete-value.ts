import { copyJson, isMembers, setMember, type KubeJson } from '../kube-json.js'
import type { CrdSchema } from './crd-schemas.js'

/**
 * A value as an API server validates and stores it: nulls of fields that take none are dropped, defaults are filled in
 * (apiextensions-apiserver pkg/apiserver/schema/defaulting). A null in a list stays, and is refused.
 */
export function completeValue(value: KubeJson, schema: CrdSchema): KubeJson {
  if (Array.isArray(value)) {
    const { items } = schema
    return items ? (value as readonly KubeJson[]).map((each) => completeValue(each, items)) : value
  }
  if (!isMembers(value)) return value
  const complete = {}
  for (const [name, member] of Object.entries(value)) {
    const field = fieldSchema(schema, name)
    if (member === null && field && !field.nullable) continue
    setMember(complete, name, field ? completeValue(member, field) : member)
  }
  for (const [name, { default: preset }] of Object.entries(schema.properties ?? {}))
    if (preset !== undefined && !Object.hasOwn(complete, name)) setMember(complete, name, copyJson(preset))
  return complete
}

function fieldSchema({ properties = {}, additionalProperties }: CrdSchema, name: string): CrdSchema | undefined {
  if (Object.hasOwn(properties, name)) return properties[name]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}
