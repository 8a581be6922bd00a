import { isMembers, isSameJson, type KubeJson, type JsonMembers } from './kube-json.js'
import type { KindEntry } from './kinds/kind-entry.js'
import {
  labelValueProblem,
  nameProblem,
  namespaceProblem,
  qualifiedNameProblem,
  segmentProblem,
} from './object-names.js'
import type { StoredMeta } from './object.js'
import type { FieldError } from './refusals.js'

/** Members of metadata that a client sets; the rest is the API's. */
const SETTABLE = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const
type Settable = Pick<StoredMeta, (typeof SETTABLE)[number]>

/** `metadata` of an object that is sent; empty if absent. */
export const sentMetadata = (object: JsonMembers): JsonMembers =>
  isMembers(object['metadata']) ? object['metadata'] : {}

/** An empty map or list is the same as none, as where Kubernetes leaves out what is empty. */
const isEmptyField = (value: KubeJson | undefined): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)

/** The settable members of what was sent. Their types are checked by {@link metadataErrors}. */
export function pickSettable(sent: JsonMembers): Settable {
  return Object.fromEntries(
    SETTABLE.flatMap((name) => (isEmptyField(sent[name]) ? [] : [[name, sent[name]]])),
  ) as unknown as Settable
}

/** Metadata after a write that keeps who the object is. */
export function changedMetadata(current: Readonly<StoredMeta>, sent: JsonMembers): StoredMeta {
  const { labels: _l, annotations: _a, finalizers: _f, ownerReferences: _o, ...own } = current
  return { ...own, ...pickSettable(sent) }
}

const fieldErrorsOf = (field: string, value: unknown, detail: string | undefined): FieldError[] =>
  detail === undefined ? [] : [{ field, reason: 'FieldValueInvalid', value, detail }]

/** The total of all annotations in bytes: apimachinery pkg/api/validation/objectmeta.go, TotalAnnotationSizeLimitB. */
const MAX_ANNOTATION_BYTES = 256 * 1024

const NAME_PROBLEMS: Readonly<Record<KindEntry['nameForm'], (name: string) => string | undefined>> = {
  subdomain: nameProblem,
  label: namespaceProblem,
  segment: segmentProblem,
}

/** Errors of an object's metadata. */
export function metadataErrors(
  sent: JsonMembers,
  { isNamespaced, nameForm, isCustom }: Pick<KindEntry, 'isNamespaced' | 'nameForm' | 'isCustom'>,
): FieldError[] {
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = sent
  const annotationsSize = isMembers(annotations)
    ? Object.entries(annotations).reduce((size, [key, value]) => size + Buffer.byteLength(key + String(value)), 0)
    : 0
  return [
    ...(typeof name === 'string' && name !== ''
      ? fieldErrorsOf('metadata.name', name, NAME_PROBLEMS[nameForm](name))
      : [required('metadata.name', 'name or generateName is required')]),
    ...(isNamespaced && typeof namespace === 'string'
      ? fieldErrorsOf('metadata.namespace', namespace, namespaceProblem(namespace))
      : []),
    ...checkMembers('metadata.labels', labels, (key, value) => [
      ...fieldErrorsOf('metadata.labels', key, qualifiedNameProblem(key)),
      ...fieldErrorsOf('metadata.labels', value, labelValueProblem(value)),
    ]),
    // The key's prefix may be in upper case, which the check does not know.
    ...checkMembers('metadata.annotations', annotations, (key) =>
      fieldErrorsOf('metadata.annotations', key, qualifiedNameProblem(key.toLowerCase())),
    ),
    ...(annotationsSize > MAX_ANNOTATION_BYTES
      ? [
          {
            field: 'metadata.annotations',
            reason: 'FieldValueTooLong' as const,
            detail: `may not be more than ${MAX_ANNOTATION_BYTES} bytes`,
          },
        ]
      : []),
    ...checkItems('metadata.finalizers', finalizers, (each, field) =>
      typeof each === 'string'
        ? finalizerErrors(field, each, isCustom)
        : [{ field, reason: 'FieldValueTypeInvalid', value: each, detail: 'must be a string' }],
    ),
    ...checkItems('metadata.ownerReferences', ownerReferences, (each, field) =>
      isMembers(each)
        ? ['apiVersion', 'kind', 'name', 'uid'].flatMap((part) =>
            typeof each[part] === 'string' && each[part] !== ''
              ? []
              : [
                  {
                    ...required(`${field}.${part}`, 'must not be empty'),
                    reason: 'FieldValueInvalid' as const,
                    value: '',
                  },
                ],
          )
        : [{ field, reason: 'FieldValueTypeInvalid', value: each, detail: 'must be an object' }],
    ),
    ...controllersErrors(ownerReferences),
  ]
}

/** Finalizers that Kubernetes has itself. */
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['foregroundDeletion', 'kubernetes', 'orphan'])

export const isUnqualifiedFinalizer = (name: string): boolean => !name.includes('/') && !STANDARD_FINALIZERS.has(name)

/** Kinds of Kubernetes itself take no finalizer without a domain (pkg/apis/core/validation); of CustomResources it is warned of. */
function finalizerErrors(field: string, name: string, isCustom: boolean): FieldError[] {
  const problem = qualifiedNameProblem(name)
  if (problem !== undefined || isCustom || !isUnqualifiedFinalizer(name)) return fieldErrorsOf(field, name, problem)
  return fieldErrorsOf(field, name, 'name is neither a standard finalizer name nor is it fully qualified')
}

/** One owner at most is the controller: apimachinery pkg/api/validation/objectmeta.go. */
function controllersErrors(owners: KubeJson | undefined): FieldError[] {
  const listed = Array.isArray(owners) ? (owners as KubeJson[]).filter(isMembers) : []
  const [first, second] = listed.filter((each) => each['controller'] === true)
  if (!first || !second) return []
  const nameOf = ({ kind, name }: JsonMembers): string => `${String(kind)}/${String(name)}`
  return [
    {
      field: 'metadata.ownerReferences',
      reason: 'FieldValueInvalid',
      shown: `[]v1.OwnerReference{${listed.map(goOwner).join(', ')}}`,
      detail: `Only one reference can have Controller set to true. Found "true" in references for ${nameOf(first)} and ${nameOf(second)}`,
    },
  ]
}

/** An owner as Go prints it; of pointers Go prints addresses, which are of no use and left at one value. */
function goOwner({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: JsonMembers): string {
  const text = (value: KubeJson | undefined): string => JSON.stringify(value ?? '')
  const pointer = (value: KubeJson | undefined): string =>
    typeof value === 'boolean' ? '(*bool)(0x1)' : '(*bool)(nil)'
  return (
    `v1.OwnerReference{APIVersion:${text(apiVersion)}, Kind:${text(kind)}, Name:${text(name)}, UID:${text(uid)}, ` +
    `Controller:${pointer(controller)}, BlockOwnerDeletion:${pointer(blockOwnerDeletion)}}`
  )
}

const required = (field: string, detail: string): FieldError => ({ field, reason: 'FieldValueRequired', detail })

function checkMembers(
  field: string,
  members: KubeJson | undefined,
  errorsOf: (key: string, value: string) => FieldError[],
): FieldError[] {
  if (members === undefined || members === null) return []
  if (!isMembers(members))
    return [{ field, reason: 'FieldValueTypeInvalid', value: members, detail: 'must be an object' }]
  return Object.entries(members).flatMap(([key, value]): FieldError[] =>
    typeof value === 'string'
      ? errorsOf(key, value)
      : [{ field: `${field}.${key}`, reason: 'FieldValueTypeInvalid', value, detail: 'must be a string' }],
  )
}

function checkItems(
  field: string,
  members: KubeJson | undefined,
  errorsOf: (each: KubeJson, field: string) => FieldError[],
): FieldError[] {
  if (members === undefined || members === null) return []
  if (!Array.isArray(members))
    return [{ field, reason: 'FieldValueTypeInvalid', value: members, detail: 'must be a list' }]
  return (members as KubeJson[]).flatMap((each, index) => errorsOf(each, `${field}[${index}]`))
}

/** A finalizer that a deleted object does not have yet is refused: apimachinery ValidateNoNewFinalizers. */
export function newFinalizersErrors(current: Readonly<StoredMeta>, next: StoredMeta): FieldError[] {
  if (current.deletionTimestamp === undefined) return []
  const present = new Set(current.finalizers)
  const added = (next.finalizers ?? []).filter((each) => !present.has(each))
  if (added.length === 0) return []
  const shown = `[]string{${added.map((each) => JSON.stringify(each)).join(', ')}}`
  return [
    {
      field: 'metadata.finalizers',
      reason: 'FieldValueForbidden' as const,
      detail: `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`,
    },
  ]
}

/** Members that a client may send back but not change. */
export function identityErrors(current: Readonly<StoredMeta>, sent: JsonMembers): FieldError[] {
  return (['creationTimestamp', 'deletionTimestamp'] as const).flatMap((name): FieldError[] => {
    const value = sent[name]
    return value === undefined || value === null || isSameJson(value, current[name])
      ? []
      : fieldErrorsOf(`metadata.${name}`, value, 'field is immutable')
  })
}
