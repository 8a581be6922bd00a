import type { ConfigPath, Findings } from '../findings.js'
import type { StructValue, ConfigValue } from '../spec/decode.js'
import type { FieldType, Struct } from '../spec/spec.js'
import { KEYS, REPEATABLE, SHARED_KEYS } from '../spec/tables.js'

/** The key by which entries of a list count as the same; empty when the entry lacks it. */
export function entryKeyOf(item: ConfigValue, type: FieldType): string {
  if (type.kind !== 'struct') return String(item)
  const entry = item as StructValue
  const { name } = type.struct
  if (name === 'Partition') {
    if (entry['number']) return `number:${String(entry['number'])}`
    return entry['label'] === undefined ? '' : `label:${String(entry['label'])}`
  }
  return String(entry[KEYS[name] ?? ''] ?? '')
}

/** Reports every entry whose key an earlier entry has. */
export function findDuplicates(value: StructValue, struct: Struct, at: ConfigPath, found: Findings): void {
  const shared = SHARED_KEYS[struct.name] ?? {}
  const seen = new Map<string, Set<string>>()
  for (const { key, type } of struct.fields) {
    const list = value[key]
    if (type.kind !== 'list' || list === undefined || REPEATABLE[struct.name]?.includes(key)) continue
    const name = shared[key] ?? key
    const keys = seen.get(name) ?? new Set()
    seen.set(name, keys)
    for (const [index, item] of (list as ConfigValue[]).entries()) {
      const own = entryKeyOf(item, type.items)
      if (keys.has(own)) found.error([...at, key, index], 'duplicate entry defined')
      keys.add(own)
    }
  }
  for (const { key, type } of struct.fields) {
    const part = value[key]
    if (part === undefined) continue
    if (type.kind === 'struct') findDuplicates(part as StructValue, type.struct, [...at, key], found)
    if (type.kind !== 'list' || type.items.kind !== 'struct') continue
    for (const [index, item] of (part as StructValue[]).entries())
      findDuplicates(item, type.items.struct, [...at, key, index], found)
  }
}
