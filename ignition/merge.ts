import { entryKeyOf } from './rules/duplicates.js'
import type { SpecConfig } from './spec/config-types.js'
import type { StructValue, ConfigValue } from './spec/decode.js'
import { ignitionSpecOf, type StructField, type FieldType, type Struct } from './spec/spec.js'
import { REPEATABLE, SHARED_KEYS } from './spec/tables.js'
import type { SpecVersion } from './spec/spec-versions.js'

/**
 * Merges a config onto another of the same version, as Ignition does. Fields of the child win; list entries with the
 * same key (path, name, device ...) are merged at the parent's position; others are appended. Options and `append` are
 * concatenated. A file, directory or link replaces the parent's entry of that path in the other two lists; the two
 * lists of kernel arguments do the same. An HTTP header without a value removes the parent's.
 *
 * @example
 * import { mergeIgnition, readIgnition } from 'ironstage/ignition'
 *
 * const parent = readIgnition({ ignition: { version: '3.4.0' } })
 * const child = readIgnition({ ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core' }] } })
 * const merged = mergeIgnition(parent.config, child.config, '3.4.0')
 */
export function mergeIgnition(parent: SpecConfig, child: SpecConfig, version: SpecVersion): SpecConfig {
  return mergeStructs(parent as StructValue, child as StructValue, ignitionSpecOf(version).root)
}

function mergeStructs(parent: StructValue, child: StructValue, struct: Struct): StructValue {
  const merged: StructValue = {}
  const elsewhere = new SharedKeys(child, struct)
  // An embedded part is merged as a struct of its own: one that is empty in the child is the parent's.
  const silent = new Set<string>()
  for (const { part } of struct.fields)
    if (part !== null && struct.fields.every((field) => field.part !== part || isZero(child[field.key], field.type)))
      silent.add(part)
  for (const field of struct.fields) {
    const { key, part } = field
    const value =
      part !== null && silent.has(part)
        ? parent[key]
        : mergeField(parent[key], child[key], field, struct, (own) => elsewhere.has(key, own))
    if (value !== undefined) merged[key] = value
  }
  return merged
}

function mergeField(
  parent: ConfigValue | undefined,
  child: ConfigValue | undefined,
  { key, type }: StructField,
  struct: Struct,
  isElsewhere: (key: string) => boolean,
): ConfigValue | undefined {
  switch (type.kind) {
    case 'struct':
      // An empty object has no scalars that could win.
      if (child === undefined || isZero(child, type)) return parent ?? child
      if (parent === undefined || isZero(parent, type)) return child
      return mergeStructs(parent as StructValue, child as StructValue, type.struct)
    case 'list': {
      const before = (parent ?? []) as ConfigValue[]
      const after = (child ?? []) as ConfigValue[]
      if (before.length + after.length === 0) return undefined
      if (REPEATABLE[struct.name]?.includes(key)) return [...before, ...after]
      return mergeLists(before, after, type, isElsewhere)
    }
    default:
      return type.optional ? (child ?? parent) : child
  }
}

function mergeLists(
  parent: readonly ConfigValue[],
  child: readonly ConfigValue[],
  { items }: FieldType & { kind: 'list' },
  isElsewhere: (key: string) => boolean,
): ConfigValue[] {
  const byKey = new Map(child.map((item) => [entryKeyOf(item, items), item]))
  const known = new Set(parent.map((item) => entryKeyOf(item, items)))
  const merged = parent.flatMap((item) => {
    const key = entryKeyOf(item, items)
    const own = byKey.get(key)
    if (own === undefined) return isElsewhere(key) ? [] : [item]
    if (items.kind !== 'struct') return [own]
    const removes = items.struct.name === 'HTTPHeader' && (own as StructValue)['value'] === undefined
    return removes ? [] : [mergeStructs(item as StructValue, own as StructValue, items.struct)]
  })
  return [...merged, ...child.filter((item) => !known.has(entryKeyOf(item, items)))]
}

/** Keys of the lists of one object that share their keys ({@link SHARED_KEYS}). */
class SharedKeys {
  private readonly lists = new Map<string, Set<string>>()

  constructor(value: StructValue, { name, fields }: Struct) {
    for (const list of Object.keys(SHARED_KEYS[name] ?? {})) {
      const field = fields.find(({ key }) => key === list)
      if (field?.type.kind !== 'list') continue
      const { items } = field.type
      this.lists.set(list, new Set(((value[list] ?? []) as ConfigValue[]).map((item) => entryKeyOf(item, items))))
    }
  }

  /** True if another list than `asking` has the key. */
  has(asking: string, key: string): boolean {
    if (!this.lists.has(asking)) return false
    return [...this.lists].some(([list, keys]) => list !== asking && keys.has(key))
  }
}

/** True if Go has a zero value here. A list that is present counts, even when empty. */
export function isZero(value: ConfigValue | undefined, type: FieldType): boolean {
  if (value === undefined) return true
  if (type.kind === 'struct')
    return !type.optional && type.struct.fields.every((field) => isZero((value as StructValue)[field.key], field.type))
  if (type.kind === 'list' || type.optional) return false
  return value === '' || value === 0 || value === false
}
