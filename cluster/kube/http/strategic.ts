import { isMembers, isSame, setMember, without, type Json, type JsonMembers } from '../json.js'

/** Lists that are merged by a member of their items, or as sets: the kinds of the core group that are served. */
const MERGE_KEYS: Readonly<Record<string, string | null>> = {
  'metadata.finalizers': null,
  'metadata.ownerReferences': 'uid',
  'spec.taints': 'key',
  'status.conditions': 'type',
  'status.addresses': 'type',
}

/**
 * A strategic merge patch, as kubectl makes it of the kinds that it knows: a merge patch in which some lists are merged
 * and `$patch` replaces or deletes. The order that `$setElementOrder` asks for has no meaning in these lists.
 */
export function strategicPatch(target: Json | undefined, patch: Json, path = ''): Json {
  if (Array.isArray(patch)) return mergedList(target, patch as Json[], path)
  if (!isMembers(patch)) return patch
  if (patch['$patch'] === 'replace') return without(patch, '$patch')
  let merged: JsonMembers = isMembers(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    const removed = /^\$deleteFromPrimitiveList\/(.+)$/s.exec(name)?.[1]
    if (removed !== undefined && Array.isArray(value) && Array.isArray(merged[removed])) {
      const rest = (merged[removed] as Json[]).filter((each) => !(value as Json[]).includes(each))
      merged = { ...merged, [removed]: rest }
    } else if (name.startsWith('$')) continue
    else if (value === null || (isMembers(value) && value['$patch'] === 'delete')) merged = without(merged, name)
    else setMember(merged, name, strategicPatch(merged[name], value, path === '' ? name : `${path}.${name}`))
  }
  return merged
}

function mergedList(target: Json | undefined, patch: readonly Json[], path: string): Json {
  const key = Object.hasOwn(MERGE_KEYS, path) ? MERGE_KEYS[path] : undefined
  const list = Array.isArray(target) ? [...(target as Json[])] : []
  if (key === undefined) return patch
  for (const item of patch) {
    if (isMembers(item) && item['$patch'] === 'replace') return patch.filter((each) => each !== item)
    const index = list.findIndex((each) =>
      key === null ? isSame(each, item) : isMembers(each) && isMembers(item) && isSame(each[key], item[key]),
    )
    if (isMembers(item) && item['$patch'] === 'delete') {
      if (index >= 0) list.splice(index, 1)
    } else if (index < 0) list.push(item)
    else list[index] = strategicPatch(list[index], item, `${path}[]`)
  }
  return list
}
