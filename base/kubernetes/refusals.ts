import { defined } from '../runtime/index.js'
import type { KindEntry } from './kinds/kind-entry.js'
import type { KubeStatus } from './kube-client.js'
import { KubeRefusal } from './kube-refusal.js'

/**
 * Refusals in the words of Kubernetes (apimachinery 0.31 pkg/api/errors/errors.go, and where it is named
 * apiserver 0.31), which clients match and people know.
 */
type StatusReason = KubeStatus['reason']

/** Members of a kind that its refusals name. */
type RefusedKind = Pick<KindEntry, 'kind' | 'resource' | 'group' | 'plural'>

const qualified = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`)

export function kubeRefusal(
  code: number,
  reason: StatusReason,
  message: string,
  details?: KubeStatus['details'],
): KubeRefusal {
  return new KubeRefusal({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...defined({ details }),
    code,
  })
}

const detailsOf = ({ group, plural }: RefusedKind, name: string): NonNullable<KubeStatus['details']> => ({
  name,
  ...defined({ group: group === '' ? undefined : group }),
  kind: plural,
})

export const objectNotFound = (kind: RefusedKind, name: string): KubeRefusal =>
  kubeRefusal(404, 'NotFound', `${kind.resource} "${name}" not found`, detailsOf(kind, name))

/** A path that the API does not have. */
export const noSuchResource = (): KubeRefusal =>
  kubeRefusal(404, 'NotFound', 'the server could not find the requested resource', {})

export const alreadyExists = (kind: RefusedKind, name: string): KubeRefusal =>
  kubeRefusal(409, 'AlreadyExists', `${kind.resource} "${name}" already exists`, detailsOf(kind, name))

export const conflictRefusal = (kind: RefusedKind, name: string, why: string): KubeRefusal =>
  kubeRefusal(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${kind.resource} "${name}": ${why}`,
    detailsOf(kind, name),
  )

/** apiserver registry/generic/registry/store.go, OptimisticLockErrorMsg. */
export const CHANGED_MEANWHILE =
  'the object has been modified; please apply your changes to the latest version and try again'

/** Fields that another manager has set. */
interface ConflictingFields {
  /** As the sentence names it. */
  manager: string
  fields: readonly string[]
}

/** Something applied that conflicts with others: apimachinery pkg/util/managedfields/internal/conflict.go. */
export function applyConflict(conflicts: readonly ConflictingFields[]): KubeRefusal {
  const all = conflicts.flatMap(({ manager, fields }) => fields.map((field) => ({ manager, field })))
  const [only] = all
  const listed = conflicts.flatMap(({ manager, fields }) => [
    `conflicts with ${manager}:`,
    ...fields.map((field) => `- ${field}`),
  ])
  const message =
    all.length === 1
      ? `Apply failed with 1 conflict: conflict with ${only!.manager}: ${only!.field}`
      : `Apply failed with ${all.length} conflicts: ${listed.join('\n')}`
  const causes = all.map(({ manager, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${manager}`,
    field,
  }))
  return kubeRefusal(409, 'Conflict', message, { causes })
}

export const badRequest = (message: string): KubeRefusal => kubeRefusal(400, 'BadRequest', message)

/** A webhook's refusal: apiserver pkg/admission/plugin/webhook/errors/statuserror.go. */
export const deniedByWebhook = (kind: RefusedKind, why: string): KubeRefusal =>
  kubeRefusal(
    403,
    'Forbidden',
    `admission webhook "${kind.kind.toLowerCase()}.${kind.group}" denied the request: ${why}`,
  )

/** How a rule about a whole object names it. */
const WHOLE_OBJECT = { field: '<nil>', value: 'object' }

/**
 * A refusal of a ValidatingAdmissionPolicy, which says `forbidden` and answers as for an invalid object: apiserver
 * pkg/admission/plugin/policy/validating/dispatcher.go. Without the name of a policy it is that of a definition's rule in
 * CEL: apiextensions-apiserver pkg/apiserver/schema/cel/validation.go.
 */
export function brokenPolicy(
  kind: RefusedKind,
  name: string,
  {
    name: policy,
    message,
    at = WHOLE_OBJECT,
  }: { name?: string; message: string; at?: { field: string; value: string } },
): KubeRefusal {
  if (policy === undefined) return invalidObject(kind, name, [{ ...at, reason: 'FieldValueInvalid', detail: message }])
  const denial = `ValidatingAdmissionPolicy '${policy}' with binding '${policy}-binding' denied request: ${message}`
  return kubeRefusal(422, 'Invalid', `${kind.resource} "${name}" is forbidden: ${denial}`, {
    ...detailsOf(kind, name),
    causes: [{ message: denial }],
  })
}

/** A request that no one may make: apimachinery errors.NewForbidden. */
const forbidden = (kind: RefusedKind, name: string, why: string, causes: StatusCauses = []): KubeRefusal =>
  kubeRefusal(403, 'Forbidden', `${kind.resource} "${name}" is forbidden: ${why}`, {
    ...detailsOf(kind, name),
    ...defined({ causes: causes.length === 0 ? undefined : causes }),
  })

type StatusCauses = NonNullable<NonNullable<KubeStatus['details']>['causes']>

/** apiserver pkg/admission/plugin/namespace/lifecycle. */
export const namespaceTerminating = (kind: RefusedKind, name: string, namespace: string): KubeRefusal =>
  forbidden(kind, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ])

/** apiextensions-apiserver pkg/apiserver/customresource_handler.go. */
export const kindTerminating = (kind: RefusedKind, name: string): KubeRefusal =>
  forbidden(kind, name, 'create not allowed while custom resource definition is terminating')

export const namespaceStays = (kind: RefusedKind, name: string): KubeRefusal =>
  forbidden(kind, name, 'this namespace may not be deleted')

/** A request that exceeds a limit. */
export const entityTooLarge = (why: string): KubeRefusal =>
  kubeRefusal(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`)

/**
 * An object of more than the 1.5 MiB that etcd takes, in its words (etcd 3.5 api/v3rpc/rpctypes/error.go). A real API server
 * answers them with 500.
 */
export const objectTooLarge = (): KubeRefusal =>
  kubeRefusal(413, 'RequestEntityTooLarge', 'etcdserver: request is too large')

/** All objects together have no room left, as of an etcd that has reached its quota; there with 500 too. */
export const storeFull = (): KubeRefusal =>
  kubeRefusal(507, 'InternalError', 'etcdserver: mvcc: database space exceeded')

/** A version that is still to come: apiserver storage/errors.go, NewTooLargeResourceVersionError. */
export const tooLargeVersion = (wanted: string, present: number): KubeRefusal =>
  kubeRefusal(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${present}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })

/** apiserver storage/cacher/watch_cache.go. */
export const expiredRefusal = (wanted: number, oldest: number): KubeRefusal =>
  kubeRefusal(410, 'Expired', `too old resource version: ${wanted} (${oldest})`)

/** An error of a field, as apimachinery's pkg/util/validation/field/errors.go has it. */
export interface FieldError {
  field: string
  reason: keyof typeof FIELD_REASONS
  /** The refused value; absent for one that is missing or forbidden. */
  value?: unknown
  /** The value as Go prints it, where that is not its JSON. */
  shown?: string
  detail?: string
}

const FIELD_REASONS = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueForbidden: 'Forbidden',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueTypeInvalid: 'Invalid value',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
} as const

const fieldSentence = ({ reason, value, shown, detail }: FieldError): string => {
  const text = shown ?? (value === undefined ? undefined : JSON.stringify(value))
  const after = text === undefined || reason === 'FieldValueTooLong' ? '' : `: ${shortened(text)}`
  return `${FIELD_REASONS[reason]}${after}${detail === undefined || detail === '' ? '' : `: ${detail}`}`
}

/** Characters of a value that a refusal shows; an API server shows all, were it a megabyte. */
const MAX_SHOWN_VALUE = 2000

const shortened = (text: string): string =>
  text.length > MAX_SHOWN_VALUE ? `${text.slice(0, MAX_SHOWN_VALUE)}...` : text

/** Errors that one refusal lists: an object can have a hundred thousand. */
const MAX_LISTED = 100

/** @param errors at least one */
export const invalidObject = (kind: RefusedKind, name: string, errors: readonly FieldError[]): KubeRefusal =>
  invalidNamed(kind.kind, { kind, name }, errors)

/** A replacement that does not say which version it replaces: apiserver registry/generic/registry/store.go names the resource. */
export const versionMissing = (kind: RefusedKind, name: string): KubeRefusal =>
  invalidNamed(kind.plural, { kind, name }, [
    {
      field: 'metadata.resourceVersion',
      reason: 'FieldValueInvalid',
      shown: '0x0',
      detail: 'must be specified for an update',
    },
  ])

/** @param called its kind or its resource, as the sentence names it */
function invalidNamed(
  called: string,
  { kind, name }: { kind: RefusedKind; name: string },
  errors: readonly FieldError[],
): KubeRefusal {
  const listed = errors.slice(0, MAX_LISTED)
  const sentences = listed.map((each) => `${each.field}: ${fieldSentence(each)}`)
  if (errors.length > MAX_LISTED) sentences.push(`and ${errors.length - MAX_LISTED} more errors`)
  const all = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`
  return kubeRefusal(422, 'Invalid', `${qualified(called, kind.group)} "${name}" is invalid: ${all}`, {
    ...detailsOf(kind, name),
    kind: called,
    causes: listed.map((each) => ({ reason: each.reason, message: fieldSentence(each), field: each.field })),
  })
}

/** A patch after which an object has fields that its kind does not have: apiserver pkg/endpoints/handlers/patch.go. */
export function invalidPatch(patched: unknown, detail: string): KubeRefusal {
  const error: FieldError = { field: 'patch', reason: 'FieldValueInvalid', value: JSON.stringify(patched), detail }
  return invalidRequest('', error)
}

const OPTIONS_OF: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
}

/** A `fieldValidation` that there is not: apimachinery pkg/apis/meta/v1/validation. */
export const unknownValidation = (method: string, mode: string): KubeRefusal =>
  invalidRequest(`${OPTIONS_OF[method]}.meta.k8s.io`, {
    field: 'fieldValidation',
    reason: 'FieldValueNotSupported',
    value: mode,
    detail: 'supported values: "", "Ignore", "Strict", "Warn"',
  })

/** Wrong options of a write: apimachinery pkg/apis/meta/v1/validation. */
export const invalidPatchOption = (error: FieldError): KubeRefusal =>
  invalidRequest('PatchOptions.meta.k8s.io', error, { group: 'meta.k8s.io', kind: 'PatchOptions' })

/** Wrong options of a list or a watch: apimachinery pkg/apis/meta/internalversion/validation. */
export const invalidListOption = (error: FieldError): KubeRefusal =>
  invalidRequest('ListOptions.meta.k8s.io', error, { group: 'meta.k8s.io', kind: 'ListOptions' })

/** A wrong part of a request that is no object with a name. */
function invalidRequest(kind: string, error: FieldError, details: KubeStatus['details'] = {}): KubeRefusal {
  const message = fieldSentence(error)
  const cause = { reason: error.reason, message, field: error.field }
  return kubeRefusal(422, 'Invalid', `${kind} "" is invalid: ${error.field}: ${message}`, {
    ...details,
    causes: [cause],
  })
}
