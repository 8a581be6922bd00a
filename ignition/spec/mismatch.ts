import type { JsonNode } from '../json/read-json.js'
import { fieldOf, isInt64 } from './decode.js'
import type { FieldType, Struct } from './spec.js'

/** The first value of a wrong type, in the words of Go's decoder. */
export interface Mismatch {
  message: string
  /** Where the decoder stood when it noticed: after a literal, inside of a container. */
  offset: number
}

/** What a message calls the place: the object it is in, and the fields that lead to it. */
interface Way {
  struct: string
  fields: readonly string[]
}

export function firstMismatch(node: JsonNode, root: Struct): Mismatch | null {
  return inStruct(node, root, `types.${root.name}`, null)
}

function inStruct(node: JsonNode, struct: Struct, goType: string, way: Way | null): Mismatch | null {
  if (node.kind === 'null') return null
  if (node.kind !== 'object') return mismatch(node, goType, way)
  for (const member of node.members) {
    const field = fieldOf(struct, member.key)
    if (!field) continue
    const inside: Way = {
      struct: struct.name,
      fields: [...(way?.fields ?? []), ...(field.part === null ? [] : [field.part]), field.key],
    }
    const found = inField(member.value, field.type, inside)
    if (found) return found
  }
  return null
}

function inField(node: JsonNode, type: FieldType, way: Way): Mismatch | null {
  if (node.kind === 'null') return null
  switch (type.kind) {
    case 'struct':
      return inStruct(node, type.struct, type.goType, way)
    case 'list':
      if (node.kind !== 'array') return mismatch(node, type.goType, way)
      for (const item of node.items) {
        const found = inField(item, type.items, way)
        if (found) return found
      }
      return null
    case 'number':
      if (node.kind === 'number' && !isInt64(node.literal)) return mismatch(node, type.goType, way, node.literal)
      return node.kind === 'number' ? null : mismatch(node, type.goType, way)
    case 'text':
    case 'flag':
      return node.kind === type.kind ? null : mismatch(node, type.goType, way)
  }
}

const CALLED = {
  object: 'object',
  array: 'array',
  text: 'string',
  number: 'number',
  flag: 'bool',
  null: 'null',
} as const

/** @param literal a number that is of the right type, but of no use */
export function mismatch(node: JsonNode, goType: string, way: Way | null, literal?: string): Mismatch {
  const given = `${CALLED[node.kind]}${literal === undefined ? '' : ` ${literal}`}`
  const into = way === null ? 'Go value' : `Go struct field ${way.struct}.${way.fields.join('.')}`
  return {
    message: `json: cannot unmarshal ${given} into ${into} of type ${goType}`,
    offset: node.kind === 'object' || node.kind === 'array' ? node.start + 1 : node.end,
  }
}
