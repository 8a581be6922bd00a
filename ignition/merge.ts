import { keyOf } from './rules/duplicates.js'
import type { SpecConfig } from './spec/config-types.js'
import type { StructValue, Value } from './spec/decode.js'
import { specOf, type Field, type FieldType, type Struct } from './spec/spec.js'
import { REPEATABLE, SHARED_KEYS } from './spec/tables.js'
import type { SpecVersion } from './spec/versions.js'

/**
 * Merges a config onto another of the same version, as Ignition does: what the child says wins; entries of lists that
 * have the same key (path, name, device ...) become one, where the parent has it; others are appended. Options and
 * `append` are put one after the other. An entry in the list of files, directories or links takes the place of the
 * parent's with that path in another of these lists; so do the two lists of kernel arguments. An HTTP header without a
 * value takes the parent's away.
 *
 * @example
 * import { mergeIgnition, readIgnition } from 'ironstage/ignition'
 *
 * const parent = readIgnition({ ignition: { version: '3.4.0' } })
 * const child = readIgnition({ ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core' }] } })
 * const merged = mergeIgnition(parent.config, child.config, '3.4.0')
 */
export function mergeIgnition(parent: SpecConfig, child: SpecConfig, version: SpecVersion): SpecConfig {
  return mergeStructs(parent as StructValue, child as StructValue, specOf(version).root)
}

function mergeStructs(parent: StructValue, child: StructValue, struct: Struct): StructValue {
  const merged: StructValue = {}
  const elsewhere = new SharedKeys(child, struct)
  // The parts of an object are objects of their own: one that the child says nothing in is the parent's.
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
  parent: Value | undefined,
  child: Value | undefined,
  { key, type }: Field,
  struct: Struct,
  isElsewhere: (key: string) => boolean,
): Value | undefined {
  switch (type.kind) {
    case 'struct':
      // An object that says nothing has no scalars to win with.
      if (child === undefined || isZero(child, type)) return parent ?? child
      if (parent === undefined || isZero(parent, type)) return child
      return mergeStructs(parent as StructValue, child as StructValue, type.struct)
    case 'list': {
      const before = (parent ?? []) as Value[]
      const after = (child ?? []) as Value[]
      if (before.length + after.length === 0) return undefined
      if (REPEATABLE[struct.name]?.includes(key)) return [...before, ...after]
      return mergeLists(before, after, type, isElsewhere)
    }
    default:
      return type.optional ? (child ?? parent) : child
  }
}

function mergeLists(
  parent: readonly Value[],
  child: readonly Value[],
  { items }: FieldType & { kind: 'list' },
  isElsewhere: (key: string) => boolean,
): Value[] {
  const byKey = new Map(child.map((item) => [keyOf(item, items), item]))
  const known = new Set(parent.map((item) => keyOf(item, items)))
  const merged = parent.flatMap((item) => {
    const key = keyOf(item, items)
    const own = byKey.get(key)
    if (own === undefined) return isElsewhere(key) ? [] : [item]
    if (items.kind !== 'struct') return [own]
    const removes = items.struct.name === 'HTTPHeader' && (own as StructValue)['value'] === undefined
    return removes ? [] : [mergeStructs(item as StructValue, own as StructValue, items.struct)]
  })
  return [...merged, ...child.filter((item) => !known.has(keyOf(item, items)))]
}

/** Keys that an object has in lists which share their keys. */
class SharedKeys {
  private readonly lists = new Map<string, Set<string>>()

  constructor(value: StructValue, { name, fields }: Struct) {
    for (const list of Object.keys(SHARED_KEYS[name] ?? {})) {
      const field = fields.find(({ key }) => key === list)
      if (field?.type.kind !== 'list') continue
      const { items } = field.type
      this.lists.set(list, new Set(((value[list] ?? []) as Value[]).map((item) => keyOf(item, items))))
    }
  }

  /** Whether a list other than the one that asks has the key. */
  has(asking: string, key: string): boolean {
    if (!this.lists.has(asking)) return false
    return [...this.lists].some(([list, keys]) => list !== asking && keys.has(key))
  }
}

/** Whether there is nothing in it, as Go sees it: a list that is there, if empty, is something. */
export function isZero(value: Value | undefined, type: FieldType): boolean {
  if (value === undefined) return true
  if (type.kind === 'struct')
    return !type.optional && type.struct.fields.every((field) => isZero((value as StructValue)[field.key], field.type))
  if (type.kind === 'list' || type.optional) return false
  return value === '' || value === 0 || value === false
}
