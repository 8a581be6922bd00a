import type { ConfigPath, Findings } from '../findings.js'
import type { JsonMember, JsonNode } from '../json/read-json.js'
import type { StructValue } from './decode.js'
import type { Struct } from './spec.js'

const membersOfNode = new WeakMap<JsonNode, Map<string, JsonMember>>()

/** Members by key, the last of repeated ones. Cached, since many findings may be about one object. */
function membersOf(node: JsonNode): Map<string, JsonMember> {
  if (node.kind !== 'object') return new Map()
  let found = membersOfNode.get(node)
  if (!found) {
    found = new Map(node.members.map((member) => [member.key, member]))
    membersOfNode.set(node, found)
  }
  return found
}

/**
 * Offset of the value at a path, or of its nearest parent that the text has. Ignition points after the opening brace or
 * bracket of an object or list, and at the first character of any other value.
 */
export function offsetOf(root: JsonNode, path: ConfigPath, atKey: boolean): number {
  let node = root
  for (const [index, step] of path.entries()) {
    const member = typeof step === 'string' ? membersOf(node).get(step) : undefined
    if (member && atKey && index === path.length - 1) return member.keyStart
    const next = member?.value ?? (typeof step === 'number' && node.kind === 'array' ? node.items[step] : undefined)
    if (!next) break
    node = next
  }
  return node.kind === 'object' || node.kind === 'array' ? node.start + 1 : node.start
}

/**
 * Warns of keys that Ignition does not know. Names are compared exactly, so a key in another case is warned of although
 * it is read. As upstream it walks the decoded value, so parts of the text that were not decoded are skipped.
 */
export function findUnusedKeys(
  value: StructValue,
  struct: Struct,
  node: JsonNode | undefined,
  at: ConfigPath,
  found: Findings,
): void {
  if (!node) return
  if (node.kind !== 'object') {
    const path = pathText(at)
    found.warning(
      at,
      `context tree does not match content tree at ${path}. Line and column reporting may be inconsistent. Unused keys may not be reported`,
    )
    return
  }
  const unknown = new Set<string>()
  for (const { key } of node.members) if (!struct.byKey.has(key)) unknown.add(key)
  for (const key of unknown) found.keyWarning([...at, key], `unused key ${key}`)
  for (const { key, type } of struct.fields) {
    const part = value[key]
    if (type.kind !== 'struct' && !(type.kind === 'list' && type.items.kind === 'struct')) continue
    const child = node.members.findLast((member) => member.key === key)?.value
    if (type.kind === 'struct' && (part !== undefined || !type.optional))
      findUnusedKeys((part ?? {}) as StructValue, type.struct, child, [...at, key], found)
    if (type.kind !== 'list' || type.items.kind !== 'struct' || child?.kind !== 'array' || !part) continue
    for (const [index, item] of (part as StructValue[]).entries())
      findUnusedKeys(item, type.items.struct, child.items[index], [...at, key, index], found)
  }
}

/** As Ignition writes it: `$.storage.files.0`. */
export const pathText = (path: ConfigPath): string => ['$', ...path].join('.')
