import { defined } from '../../runtime/index.js'
import { isMembers, withoutMembers, type JsonMembers, type KubeJson } from '../kube-json.js'
import type { ManagedFieldsEntry } from '../object.js'
import { applyConflict } from '../refusals.js'
import { FieldSet, shownPath } from './field-set.js'
import type { FieldShape } from './field-shape.js'
import {
  checkApplied,
  fieldChanges,
  fieldsOf,
  mergedFields,
  withNamedAncestors,
  withoutFields,
} from './object-fields.js'

/** A client that writes, and how it does. */
export interface FieldWriter {
  manager: string
  operation: 'Apply' | 'Update'
  apiVersion: string
  time: string
  subresource?: string
}

interface OwnedFields extends FieldWriter {
  fields: FieldSet
}

/** Members of an object that have no owner: fieldmanager/stripmeta.go of apimachinery. */
const UNOWNED: readonly string[] = ['apiVersion', 'kind']
const UNOWNED_METADATA: readonly string[] = [
  'name',
  'namespace',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'uid',
  'generation',
  'managedFields',
  'resourceVersion',
]

function ownable(object: JsonMembers): JsonMembers {
  const metadata = isMembers(object['metadata']) ? withoutMembers(object['metadata'], ...UNOWNED_METADATA) : {}
  const rest = withoutMembers(object, ...UNOWNED, 'metadata')
  return Object.keys(metadata).length === 0 ? rest : { ...rest, metadata }
}

function managersIn(object: JsonMembers | undefined): OwnedFields[] {
  const entries = isMembers(object?.['metadata']) ? object['metadata']['managedFields'] : undefined
  if (!Array.isArray(entries)) return []
  return (entries as unknown as ManagedFieldsEntry[]).map(({ fieldsType: _, fieldsV1, ...writer }) => ({
    ...writer,
    fields: FieldSet.read(fieldsV1),
  }))
}

const isSameWriter = (a: FieldWriter, b: FieldWriter): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  // A manager that applies has one entry for all versions; one that updates has an entry for each.
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion)

/** Update entries of an object; older ones become one: fieldmanager/capmanagers.go. */
const MAX_UPDATE_MANAGERS = 10
const ANCIENT_CHANGES = 'ancient-changes'

function writtenManagers(managers: readonly OwnedFields[]): ManagedFieldsEntry[] {
  const sorted = capped(managers.filter(({ fields }) => !fields.isEmpty)).sort(
    (a, b) =>
      compareTexts(a.operation, b.operation) || compareTexts(a.time, b.time) || compareTexts(a.manager, b.manager),
  )
  return sorted.map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
    manager,
    operation,
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: fields.write(),
    ...defined({ subresource }),
  }))
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function capped(managers: readonly OwnedFields[]): OwnedFields[] {
  const updates = managers.filter(({ operation }) => operation === 'Update')
  if (updates.length <= MAX_UPDATE_MANAGERS) return [...managers]
  const oldest = updates.sort((a, b) => compareTexts(a.time, b.time)).slice(0, updates.length - MAX_UPDATE_MANAGERS + 1)
  const fields = oldest.reduce((all, each) => all.union(each.fields), FieldSet.none)
  const { apiVersion, time } = oldest.at(-1)!
  const ancient: OwnedFields = { manager: ANCIENT_CHANGES, operation: 'Update', apiVersion, time, fields }
  return [...managers.filter((each) => !oldest.includes(each)), ancient]
}

/** Fields of the others after a write. */
function othersAfter(
  managers: readonly OwnedFields[],
  writer: FieldWriter,
  { changed, removed }: { changed: FieldSet; removed: FieldSet },
): OwnedFields[] {
  const gone = changed.union(removed)
  return managers
    .filter((each) => !isSameWriter(each, writer))
    .map((each) => ({ ...each, fields: each.fields.without(gone) }))
}

/** The entry of a writer with other fields; its time is that of the last change of them. */
function entryOf(writer: FieldWriter, before: OwnedFields | undefined, fields: FieldSet): OwnedFields {
  const isSame = before?.apiVersion === writer.apiVersion && before.fields.isSame(fields)
  return isSame ? before : { ...writer, fields }
}

/** `managedFields` after an update: who changed a field owns it. */
export function managersAfterUpdate(
  before: JsonMembers | undefined,
  after: JsonMembers,
  shape: FieldShape,
  writer: FieldWriter,
): ManagedFieldsEntry[] {
  const managers = managersIn(before)
  const changes = fieldChanges(before && ownable(before), ownable(after), shape)
  const own = managers.find((each) => isSameWriter(each, writer))
  const fields = (own?.fields ?? FieldSet.none).without(changes.removed).union(changes.changed)
  return writtenManagers([...othersAfter(managers, writer, changes), entryOf(writer, own, fields)])
}

interface ApplyRules {
  /** Takes fields over that others have set. */
  isForced: boolean
  /** Leaves fields without a recorded manager to the one that applies them first. */
  takesUnowned?: boolean
}

/** An object after something was applied to it, and its `managedFields`. */
export interface AppliedObject {
  object: JsonMembers
  managers: ManagedFieldsEntry[]
}

/**
 * Applies to an object: merges, removes what its manager has applied before and gives up now, unless others own it too
 * (structured-merge-diff merge/update.go, Apply).
 *
 * @param live undefined for an object that the application makes
 * @throws KubeRefusal 400 for items without their key, 409 for fields that others have set to other values, unless it is forced
 */
export function appliedTo(
  live: JsonMembers | undefined,
  applied: JsonMembers,
  shape: FieldShape,
  { isForced, takesUnowned = false, ...writer }: FieldWriter & ApplyRules,
): AppliedObject {
  checkApplied(applied, shape)
  const managers = !live || takesUnowned ? managersIn(live) : withFirstManager(live, shape, writer)
  const last = managers.find((each) => isSameWriter(each, writer))
  const others = managers.filter((each) => each !== last)
  const fields = FieldSet.of(fieldsOf(ownable(applied), shape))
  const merged = mergedFields(live, applied, shape) as JsonMembers
  const object = last
    ? pruned(merged, { last: last.fields, owned: [fields, ...others.map((each) => each.fields)], shape })
    : merged
  const changes = fieldChanges(live && ownable(live), ownable(object), shape)
  const conflicts = others
    .map((each) => ({ ...each, fields: each.fields.intersection(changes.changed) }))
    .filter((each) => !each.fields.isEmpty)
  if (conflicts.length > 0 && !isForced)
    throw applyConflict(
      conflicts.map((each) => ({ manager: shownManager(each), fields: each.fields.paths().map(shownPath).sort() })),
    )
  return {
    object,
    managers: writtenManagers([...othersAfter(managers, writer, changes), entryOf(writer, last, fields)]),
  }
}

/** Fields of an object without recorded managers belong to a manager of before. */
function withFirstManager(live: JsonMembers, shape: FieldShape, { time }: FieldWriter): OwnedFields[] {
  const managers = managersIn(live)
  if (managers.length > 0) return managers
  const fields = FieldSet.of(fieldsOf(ownable(live), shape))
  const apiVersion = String(live['apiVersion'])
  return [{ manager: 'before-first-apply', operation: 'Update', apiVersion, time, fields }]
}

interface PrunedParts {
  /** Fields that the manager applied before. */
  last: FieldSet
  /** Fields that it applies now, and those of others. */
  owned: readonly FieldSet[]
  shape: FieldShape
}

function pruned(merged: JsonMembers, { last, owned, shape }: PrunedParts): JsonMembers {
  const retained = owned.reduce((all, each) => all.union(each), FieldSet.none).withAncestors()
  const removed = withNamedAncestors(last, shape).without(retained)
  return removed.isEmpty ? merged : (withoutFields(merged, removed, shape) as JsonMembers)
}

/** `"kubectl" using metal3.io/v1alpha1`: fieldmanager/internal/conflict.go. */
function shownManager({ manager, operation, apiVersion, subresource }: FieldWriter): string {
  const own = JSON.stringify(manager)
  const below = subresource === undefined ? own : `${own} with subresource ${JSON.stringify(subresource)}`
  return operation === 'Update' ? `${below} using ${apiVersion}` : below
}

/**
 * The managers of an object that is sent: a client may write them (kubectl does so when an object is applied by the server that
 * was applied by itself), or have them forgotten by `[{}]`.
 */
export function managersSent(
  sent: KubeJson | undefined,
  live: { metadata: { managedFields?: ManagedFieldsEntry[] } },
): ManagedFieldsEntry[] | undefined {
  const entries = Array.isArray(sent) ? (sent as readonly KubeJson[]) : []
  const [first] = entries
  if (entries.length === 1 && isMembers(first) && Object.keys(first).length === 0) return undefined
  const isWhole = entries.length > 0 && entries.every(isManagedEntry)
  return isWhole ? (entries as unknown as ManagedFieldsEntry[]) : live.metadata.managedFields
}

function isManagedEntry(entry: KubeJson): boolean {
  if (!isMembers(entry)) return false
  const { manager, operation, apiVersion, time, fieldsType, fieldsV1, subresource } = entry
  const isText = [manager, apiVersion, time].every((each) => typeof each === 'string')
  const isKnown = (operation === 'Apply' || operation === 'Update') && fieldsType === 'FieldsV1'
  return isText && isKnown && isMembers(fieldsV1) && ['string', 'undefined'].includes(typeof subresource)
}
