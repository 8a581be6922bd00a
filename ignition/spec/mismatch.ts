import type { JsonNode } from '../json/read-json.js'
import { fieldOf, isInt64 } from './decode.js'
import type { FieldType, Struct } from './spec.js'

/** The first value of a wrong type, with the message of Go's decoder. */
export interface Mismatch {
  message: string
  /** Offset that the decoder reports: after a literal, after the opening bracket of a container. */
  offset: number
}

/** Name of a field in a message: the struct it is in, and the fields that lead to it. */
interface FieldName {
  struct: string
  fields: readonly string[]
}

export function firstMismatch(node: JsonNode, root: Struct): Mismatch | null {
  return inStruct(node, root, `types.${root.name}`, null)
}

function inStruct(node: JsonNode, struct: Struct, goType: string, field: FieldName | null): Mismatch | null {
  if (node.kind === 'null') return null
  if (node.kind !== 'object') return typeMismatch(node, goType, field)
  for (const member of node.members) {
    const known = fieldOf(struct, member.key)
    if (!known) continue
    const inside: FieldName = {
      struct: struct.name,
      fields: [...(field?.fields ?? []), ...(known.part === null ? [] : [known.part]), known.key],
    }
    const found = inField(member.value, known.type, inside)
    if (found) return found
  }
  return null
}

function inField(node: JsonNode, type: FieldType, field: FieldName): Mismatch | null {
  if (node.kind === 'null') return null
  switch (type.kind) {
    case 'struct':
      return inStruct(node, type.struct, type.goType, field)
    case 'list':
      if (node.kind !== 'array') return typeMismatch(node, type.goType, field)
      for (const item of node.items) {
        const found = inField(item, type.items, field)
        if (found) return found
      }
      return null
    case 'number':
      if (node.kind === 'number' && !isInt64(node.literal)) return typeMismatch(node, type.goType, field, node.literal)
      return node.kind === 'number' ? null : typeMismatch(node, type.goType, field)
    case 'text':
    case 'flag':
      return node.kind === type.kind ? null : typeMismatch(node, type.goType, field)
  }
}

const GO_TYPE_NAMES = {
  object: 'object',
  array: 'array',
  text: 'string',
  number: 'number',
  flag: 'bool',
  null: 'null',
} as const

/** @param literal the spelling of a number that Go does not accept for an integer */
export function typeMismatch(node: JsonNode, goType: string, field: FieldName | null, literal?: string): Mismatch {
  const value = `${GO_TYPE_NAMES[node.kind]}${literal === undefined ? '' : ` ${literal}`}`
  const into = field === null ? 'Go value' : `Go struct field ${field.struct}.${field.fields.join('.')}`
  return {
    message: `json: cannot unmarshal ${value} into ${into} of type ${goType}`,
    offset: node.kind === 'object' || node.kind === 'array' ? node.start + 1 : node.end,
  }
}
