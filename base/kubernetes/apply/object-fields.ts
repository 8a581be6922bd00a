import { isMembers, isSameJson, setMember, type JsonMembers, type KubeJson } from '../kube-json.js'
import { badRequest } from '../refusals.js'
import { FieldSet, type OwnedPath } from './field-set.js'
import type { FieldShape } from './field-shape.js'

/**
 * Fields of objects by who set them, in the rules of Kubernetes' structured-merge-diff (typed/tofieldset.go, compare.go,
 * merge.go, remove.go).
 */
const fieldPart = (name: string): string => `f:${name}`
const valuePart = (value: KubeJson): string => `v:${JSON.stringify(value)}`

/** An item's key: `k:{"name":"a"}`. Undefined for an item that does not say which one it is. */
function keyPart(item: KubeJson, { keys }: FieldShape): string | undefined {
  if (!isMembers(item)) return undefined
  const parts: Record<string, KubeJson> = {}
  for (const [key, preset] of Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const value = item[key] ?? preset
    if (value === undefined || typeof value === 'object') return undefined
    setMember(parts, key, value)
  }
  return `k:${JSON.stringify(parts)}`
}

/** A part of a value, and where it is in it. */
interface ValuePart {
  part: string
  value: KubeJson
  shape: FieldShape
  /** True for a field that the schema names: it is not owned by itself while it has others in it. */
  isNamed: boolean
}

/** The parts of a value that are owned by themselves; undefined for one that is owned as one. */
function partsOf(value: KubeJson | undefined, shape: FieldShape): ValuePart[] | undefined {
  if (value === undefined) return undefined
  const list = Array.isArray(value) ? (value as readonly KubeJson[]) : []
  switch (shape.ownershipOf(value)) {
    case 'leaf':
      return undefined
    case 'fields':
      return Object.entries(value as JsonMembers).map(([name, each]) => ({
        part: fieldPart(name),
        value: each,
        shape: shape.field(name),
        isNamed: shape.names(name),
      }))
    case 'set':
      return list.map((each) => ({ part: valuePart(each), value: each, shape: shape.item(), isNamed: false }))
    case 'items':
      return list.map((each, index) => {
        const part = keyPart(each, shape) ?? `i:${index}`
        return { part, value: each, shape: shape.item(), isNamed: false }
      })
  }
}

/** The fields that a value sets. */
export function fieldsOf(value: KubeJson, shape: FieldShape, at: OwnedPath = []): OwnedPath[] {
  const parts = partsOf(value, shape)
  if (parts === undefined || (parts.length === 0 && at.length > 0)) return [at]
  return parts.flatMap((each) => {
    const path = [...at, each.part]
    const below = each.part.startsWith('v:') ? [path] : fieldsOf(each.value, each.shape, path)
    return each.isNamed ? below : [path, ...below]
  })
}

/** Fields that a write changes or makes, and those that it removes. */
export interface FieldChanges {
  changed: FieldSet
  removed: FieldSet
}

export function fieldChanges(
  before: KubeJson | undefined,
  after: KubeJson | undefined,
  shape: FieldShape,
): FieldChanges {
  const changed: OwnedPath[] = []
  const removed: OwnedPath[] = []
  compareFields(before, after, shape, [], { changed, removed })
  return { changed: FieldSet.of(changed), removed: FieldSet.of(removed) }
}

function compareFields(
  before: KubeJson | undefined,
  after: KubeJson | undefined,
  shape: FieldShape,
  at: OwnedPath,
  found: { changed: OwnedPath[]; removed: OwnedPath[] },
): void {
  if (isSameJson(before, after)) return
  if (at.length > 0 && before === undefined) found.changed.push(at)
  if (at.length > 0 && after === undefined) found.removed.push(at)
  const old = partsOf(before, shape)
  const next = partsOf(after, shape)
  if (before !== undefined && after !== undefined && (!old || !next)) return void found.changed.push(at)
  const oldParts = new Map((old ?? []).map((each) => [each.part, each]))
  const nextParts = new Map((next ?? []).map((each) => [each.part, each]))
  for (const part of new Set([...oldParts.keys(), ...nextParts.keys()])) {
    const was = oldParts.get(part)
    const is = nextParts.get(part)
    const { shape: own } = (is ?? was)!
    compareFields(was?.value, is?.value, own, [...at, part], found)
  }
}

/** An object with what is applied to it: its own fields stay, lists with keys are merged item by item. */
export function mergedFields(live: KubeJson | undefined, applied: KubeJson, shape: FieldShape): KubeJson {
  const ownership = shape.ownershipOf(applied)
  if (live === undefined || ownership === 'leaf' || shape.ownershipOf(live) !== ownership) return applied
  if (ownership === 'fields') {
    const merged = { ...(live as JsonMembers) }
    for (const [name, value] of Object.entries(applied as JsonMembers))
      setMember(merged, name, mergedFields((live as JsonMembers)[name], value, shape.field(name)))
    return merged
  }
  return mergedList(partsOf(live, shape)!, partsOf(applied, shape)!, (before, after) =>
    ownership === 'set' ? after : mergedFields(before, after, shape.item()),
  )
}

/** The applied order; what only the live list has stays before the next item that both have. */
function mergedList(
  live: readonly ValuePart[],
  applied: readonly ValuePart[],
  merge: (before: KubeJson | undefined, after: KubeJson) => KubeJson,
): KubeJson {
  const wanted = new Set(applied.map(({ part }) => part))
  const present = new Map(live.map((each) => [each.part, each.value]))
  const taken = new Set<string>()
  const merged: KubeJson[] = []
  let next = 0
  const takeOthers = (): void => {
    for (; next < live.length; next++) {
      const { part, value } = live[next]!
      if (!wanted.has(part)) merged.push(value)
      else if (!taken.has(part)) return
    }
  }
  for (const { part, value } of applied) {
    takeOthers()
    merged.push(merge(present.get(part), value))
    taken.add(part)
  }
  takeOthers()
  return merged
}

/**
 * Checks that items of lists with keys say which one they are, and are there once.
 *
 * @throws KubeRefusal 400
 */
export function checkApplied(applied: KubeJson, shape: FieldShape, at = ''): void {
  if (shape.ownershipOf(applied) === 'items') checkItems(applied as readonly KubeJson[], shape, at)
  for (const { part, value, shape: own } of partsOf(applied, shape) ?? [])
    checkApplied(value, own, part.startsWith('f:') ? `${at}.${part.slice(2)}` : at)
}

function checkItems(items: readonly KubeJson[], shape: FieldShape, at: string): void {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const part = keyPart(item, shape)
    if (part === undefined) {
      const names = Object.keys(shape.keys).map((key) => JSON.stringify(key))
      throw badRequest(
        `failed to create typed patch object: ${at}: element ${index}: associative list with keys has an element that omits key field ${names.join(', ')} (and doesn't have default value)`,
      )
    }
    if (seen.has(part))
      throw badRequest(`failed to create typed patch object: ${at}: duplicate entries for key ${part.slice(2)}`)
    seen.add(part)
  }
}

/** An object without some of its fields. */
export function withoutFields(value: KubeJson, removed: FieldSet, shape: FieldShape, at: OwnedPath = []): KubeJson {
  const parts = partsOf(value, shape)
  if (!parts) return value
  const remaining = parts.filter(({ part }) => !removed.has([...at, part]))
  const inner = (each: ValuePart): KubeJson =>
    each.part.startsWith('v:') ? each.value : withoutFields(each.value, removed, each.shape, [...at, each.part])
  if (Array.isArray(value)) return remaining.map(inner)
  const copy = {}
  for (const each of remaining) setMember(copy, each.part.slice(2), inner(each))
  return copy
}

/** The fields of a set, and the named ones on the ways to them. */
export function withNamedAncestors(set: FieldSet, shape: FieldShape): FieldSet {
  const all = set.withAncestors()
  return all.filter((path) => set.has(path) || isNamedField(path, shape))
}

function isNamedField(path: OwnedPath, root: FieldShape): boolean {
  let shape = root
  for (const [index, part] of path.entries()) {
    const isField = part.startsWith('f:')
    if (index === path.length - 1) return isField && shape.names(part.slice(2))
    shape = isField ? shape.field(part.slice(2)) : shape.item()
  }
  return false
}
