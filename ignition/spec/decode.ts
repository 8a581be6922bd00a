import type { JsonNode } from '../json/read-json.js'
import { folded, type Field, type FieldType, type Struct } from './spec.js'

export type Value = string | number | boolean | Value[] | { [key: string]: Value }
export type StructValue = Record<string, Value>

export interface Decoded {
  /** Not yet of the right types: the schema says whether it is. */
  value: Value
  /** Whether some object had one field more than once. */
  repeated: boolean
}

/**
 * Takes from the text what Ignition takes: fields by their names, in whatever case, no others; nulls as absent; fields
 * that are repeated on top of each other. A whole number that is not written as one, or does not fit 64 bits, becomes
 * NaN, which no schema accepts.
 */
export function decode(node: JsonNode, root: Struct): Decoded {
  const decoder = new Decoder()
  const value = decoder.struct(node, root, undefined)
  return { value, repeated: decoder.repeated }
}

class Decoder {
  repeated = false

  struct(node: JsonNode, struct: Struct, before: Value | undefined): Value {
    if (node.kind !== 'object') return node.kind === 'null' ? (before ?? {}) : raw(node)
    const value: StructValue = isStruct(before) ? before : {}
    const seen = new Set<Field>()
    for (const member of node.members) {
      const field = fieldOf(struct, member.key)
      if (!field) continue
      if (seen.has(field)) this.repeated = true
      seen.add(field)
      const given = this.field(member.value, field.type, value[field.key])
      if (given === undefined) delete value[field.key]
      else value[field.key] = given
    }
    return value
  }

  private field(node: JsonNode, type: FieldType, before: Value | undefined): Value | undefined {
    switch (type.kind) {
      case 'struct':
        // Null empties what may be absent and leaves the rest as it is.
        if (node.kind === 'null') return type.optional ? undefined : before
        return this.struct(node, type.struct, before)
      case 'list':
        return node.kind === 'null' ? undefined : this.list(node, type, before)
      default:
        if (node.kind === 'null') return type.optional ? undefined : before
        return type.kind === 'number' ? wholeNumber(node) : raw(node)
    }
  }

  private list(node: JsonNode, type: FieldType & { kind: 'list' }, before: Value | undefined): Value {
    if (node.kind !== 'array') return raw(node)
    const earlier = Array.isArray(before) ? before : []
    return node.items.map((item, index) => {
      const given = this.field(item, type.items, earlier[index])
      return given ?? (type.items.kind === 'struct' ? {} : '')
    })
  }
}

/** Exact names first, as Go looks for them. */
export const fieldOf = (struct: Struct, key: string): Field | undefined =>
  struct.byKey.get(key) ?? struct.byFolded.get(folded(key))

const isStruct = (value: Value | undefined): value is StructValue => typeof value === 'object' && !Array.isArray(value)

/** Only its type is looked at any more: a value of the wrong type is refused. */
function raw(node: JsonNode): Value {
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

const LOWEST = -(2n ** 63n)
const HIGHEST = 2n ** 63n - 1n

export function isInt64(literal: string): boolean {
  if (!/^-?\d+$/.test(literal)) return false
  if (literal.length < 16) return true
  // Longer ones need not be computed: the text may be of any length.
  if (literal.length > 20) return false
  const value = BigInt(literal)
  return value >= LOWEST && value <= HIGHEST
}

const wholeNumber = (node: JsonNode): Value =>
  node.kind === 'number' && !isInt64(node.literal) ? Number.NaN : raw(node)
