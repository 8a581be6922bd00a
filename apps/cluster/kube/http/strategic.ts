import { isMembers, setMember, withoutMembers, type KubeJson } from '../kube-json.js'

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
export function strategicPatch(target: KubeJson | undefined, patch: KubeJson, path = ''): KubeJson {
  if (Array.isArray(patch)) return mergedList(target, patch as KubeJson[], path)
  if (!isMembers(patch)) return patch
  if (patch['$patch'] === 'replace') return withoutMembers(patch, '$patch')
  const merged: Record<string, KubeJson> = isMembers(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    const removed = /^\$deleteFromPrimitiveList\/(.+)$/s.exec(name)?.[1]
    if (removed !== undefined && Array.isArray(value) && Array.isArray(merged[removed])) {
      const gone = new Set(value as KubeJson[])
      merged[removed] = (merged[removed] as KubeJson[]).filter((each) => !gone.has(each))
    } else if (name.startsWith('$')) continue
    else if (value === null || (isMembers(value) && value['$patch'] === 'delete')) delete merged[name]
    else setMember(merged, name, strategicPatch(merged[name], value, path === '' ? name : `${path}.${name}`))
  }
  return merged
}

function mergedList(target: KubeJson | undefined, patch: readonly KubeJson[], path: string): KubeJson {
  const key = Object.hasOwn(MERGE_KEYS, path) ? MERGE_KEYS[path] : undefined
  if (key === undefined) return patch
  const identityOf = (item: KubeJson): KubeJson | undefined =>
    key === null ? item : isMembers(item) ? item[key] : undefined
  // A search through the list for each item would take minutes for a list of a hundred thousand.
  const items = new Map<string, KubeJson>()
  const add = (identity: KubeJson | undefined, item: KubeJson): void => void items.set(sortedText(identity), item)
  for (const item of Array.isArray(target) ? (target as readonly KubeJson[]) : []) add(identityOf(item), item)
  for (const item of patch) {
    const identity = identityOf(item)
    if (!isMembers(item)) add(identity, item)
    else if (item['$patch'] === 'replace') return patch.filter((each) => each !== item)
    else if (item['$patch'] === 'delete') items.delete(sortedText(identity))
    else add(identity, strategicPatch(items.get(sortedText(identity)), item, `${path}[]`))
  }
  return [...items.values()]
}

/** The same text for values that are the same. */
function sortedText(value: KubeJson | undefined): string {
  const text = JSON.stringify(value, (_, member: unknown) =>
    isMembers(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  ) as string | undefined
  return text ?? ''
}
