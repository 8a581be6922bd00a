import type { JsonNode } from '../json/read-json.js'
import { foldKey, type StructField, type FieldType, type Struct } from './spec.js'

export type ConfigValue = string | number | boolean | ConfigValue[] | { [key: string]: ConfigValue }
export type StructValue = Record<string, ConfigValue>

export interface DecodedValue {
  /** Values of unchecked types: the schema checks them. */
  value: ConfigValue
  /** True if an object has a field more than once. */
  repeated: boolean
}

/**
 * Decodes the text as Ignition does: known fields only, by names in any case; null as absent; repeated fields one onto
 * the other. A number that Go does not accept for an integer, by its spelling or its size, becomes NaN, which no schema
 * accepts.
 */
export function decodeIgnition(node: JsonNode, root: Struct): DecodedValue {
  const decoder = new Decoder()
  const value = decoder.struct(node, root, undefined)
  return { value, repeated: decoder.repeated }
}

class Decoder {
  repeated = false

  struct(node: JsonNode, struct: Struct, before: ConfigValue | undefined): ConfigValue {
    if (node.kind !== 'object') return node.kind === 'null' ? (before ?? {}) : raw(node)
    const value: StructValue = isStruct(before) ? before : {}
    const seen = new Set<StructField>()
    for (const member of node.members) {
      const field = fieldOf(struct, member.key)
      if (!field) continue
      if (seen.has(field)) this.repeated = true
      seen.add(field)
      const decoded = this.field(member.value, field.type, value[field.key])
      if (decoded === undefined) delete value[field.key]
      else value[field.key] = decoded
    }
    return value
  }

  private field(node: JsonNode, type: FieldType, before: ConfigValue | undefined): ConfigValue | undefined {
    switch (type.kind) {
      case 'struct':
        // Null clears an optional field and leaves any other unchanged.
        if (node.kind === 'null') return type.optional ? undefined : before
        return this.struct(node, type.struct, before)
      case 'list':
        return node.kind === 'null' ? undefined : this.list(node, type, before)
      default:
        if (node.kind === 'null') return type.optional ? undefined : before
        return type.kind === 'number' ? wholeNumber(node) : raw(node)
    }
  }

  private list(node: JsonNode, type: FieldType & { kind: 'list' }, before: ConfigValue | undefined): ConfigValue {
    if (node.kind !== 'array') return raw(node)
    const earlier = Array.isArray(before) ? before : []
    return node.items.map((item, index) => {
      const decoded = this.field(item, type.items, earlier[index])
      return decoded ?? (type.items.kind === 'struct' ? {} : '')
    })
  }
}

/** The field of a key; as in Go, the exact name has precedence over one in another case. */
export const fieldOf = (struct: Struct, key: string): StructField | undefined =>
  struct.byKey.get(key) ?? struct.byFolded.get(foldKey(key))

const isStruct = (value: ConfigValue | undefined): value is StructValue =>
  typeof value === 'object' && !Array.isArray(value)

/** A value of the same JSON type. Its content does not matter when the schema refuses the type. */
function raw(node: JsonNode): ConfigValue {
  switch (node.kind) {
    case 'text':
      return node.text
    case 'flag':
      return node.flag
    case 'number':
      return Number(node.literal)
    case 'array':
      return []
    case 'object':
    case 'null':
      return {}
  }
}

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

export function isInt64(literal: string): boolean {
  if (!/^-?\d+$/.test(literal)) return false
  if (literal.length < 16) return true
  // Longer ones do not fit; the check bounds the cost of BigInt.
  if (literal.length > 20) return false
  const value = BigInt(literal)
  return value >= MIN_INT64 && value <= MAX_INT64
}

const wholeNumber = (node: JsonNode): ConfigValue =>
  node.kind === 'number' && !isInt64(node.literal) ? Number.NaN : raw(node)
