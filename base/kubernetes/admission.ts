import { isMembers, setMember, withoutMembers, type KubeJson, type JsonMembers } from './kube-json.js'
import type { KindEntry, KindVersion } from './kinds/kind-entry.js'
import { completeDefinition } from './crds/definition-status.js'
import { dataKeyProblem } from './object-names.js'
import { completeNamespace } from './namespaces.js'
import type { FieldError } from './refusals.js'
import { webhookErrors } from './webhooks/webhook-configuration.js'
import { completeObject } from './validation.js'

/** Makes of an object that is sent the one that is validated and stored. */
export function admitObject({ kind, isCustom }: KindEntry, version: KindVersion, object: JsonMembers): JsonMembers {
  switch (isCustom ? undefined : kind) {
    case 'CustomResourceDefinition':
      return completeObject(version, completeDefinition(object))
    case 'Secret':
      return completeObject(version, secret(object))
    case 'Namespace':
      return completeObject(version, completeNamespace(object))
    default:
      return completeObject(version, object)
  }
}

/** `stringData` is for writing only, and wins over `data`. */
function secret(object: JsonMembers): JsonMembers {
  const { stringData, type } = object
  const rest = { ...withoutMembers(object, 'stringData'), type: type ?? 'Opaque' }
  if (!isMembers(stringData)) return stringData === undefined || stringData === null ? rest : object
  const data: JsonMembers = isMembers(object['data']) ? { ...object['data'] } : {}
  for (const [key, value] of Object.entries(stringData))
    setMember(data, key, typeof value === 'string' ? Buffer.from(value).toString('base64') : value)
  return { ...rest, data }
}

/** MaxSecretSize of Kubernetes' core/v1. */
const MAX_SECRET_BYTES = 1024 * 1024

/** Errors of the kinds that are no CustomResources. */
export function coreErrors(
  { kind, isCustom }: KindEntry,
  object: JsonMembers,
  before: JsonMembers | undefined,
): FieldError[] {
  switch (isCustom ? undefined : kind) {
    case 'ConfigMap':
    case 'Secret':
      return dataObjectErrors(kind === 'Secret', object, before)
    case 'Event':
      return eventErrors(object, before)
    case 'Lease':
      return leaseErrors(object)
    case 'ValidatingWebhookConfiguration':
      return webhookErrors(object)
    default:
      return []
  }
}

function dataObjectErrors(isBase64: boolean, object: JsonMembers, before: JsonMembers | undefined): FieldError[] {
  return [
    ...dataErrors('data', object['data'], isBase64),
    ...(isBase64 ? [] : dataErrors('binaryData', object['binaryData'], true)),
    ...(isBase64 && isMembers(before) && before['type'] !== object['type']
      ? [
          {
            field: 'type',
            reason: 'FieldValueInvalid' as const,
            value: object['type'],
            detail: 'field is immutable',
          },
        ]
      : []),
    ...('stringData' in object
      ? [{ field: 'stringData', reason: 'FieldValueTypeInvalid' as const, detail: 'must be an object' }]
      : []),
  ]
}

/**
 * An event is about an object of its namespace; about one without a namespace it is in `default`. One with an eventTime, as
 * of the newer recorder, names its reporter too: kubernetes pkg/apis/core/validation/events.go.
 */
function eventErrors(object: JsonMembers, before: JsonMembers | undefined): FieldError[] {
  const { involvedObject, metadata, eventTime } = object
  const about = textMember(involvedObject, 'namespace')
  const namespace = textMember(metadata, 'namespace')
  const isOfNamespace = about === '' ? namespace === 'default' : about === namespace
  const errors: FieldError[] = []
  if (!isOfNamespace)
    errors.push({
      field: 'involvedObject.namespace',
      reason: 'FieldValueInvalid',
      value: about,
      detail: 'does not match event.namespace',
    })
  if (before !== undefined || typeof eventTime !== 'string') return errors
  for (const field of ['reportingComponent', 'reportingInstance', 'action', 'reason'])
    if (textMember(object, field) === '') errors.push({ field, reason: 'FieldValueRequired' })
  return errors
}

function textMember(value: KubeJson | undefined, name: string): string {
  const member = isMembers(value) ? value[name] : undefined
  return typeof member === 'string' ? member : ''
}

/** kubernetes pkg/apis/coordination/validation. */
function leaseErrors({ spec }: JsonMembers): FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = isMembers(spec) ? spec : {}
  const errors: FieldError[] = []
  if (typeof duration === 'number' && duration <= 0)
    errors.push({
      field: 'spec.leaseDurationSeconds',
      reason: 'FieldValueInvalid',
      value: duration,
      detail: 'must be greater than 0',
    })
  if (typeof transitions === 'number' && transitions < 0)
    errors.push({
      field: 'spec.leaseTransitions',
      reason: 'FieldValueInvalid',
      value: transitions,
      detail: 'must be greater than or equal to 0',
    })
  return errors
}

function dataErrors(field: string, data: KubeJson | undefined, isBase64: boolean): FieldError[] {
  if (data === undefined || data === null) return []
  if (!isMembers(data)) return [{ field, reason: 'FieldValueTypeInvalid', value: data, detail: 'must be an object' }]
  const entries = Object.entries(data)
  const size = entries.reduce((sum, [, value]) => sum + (typeof value === 'string' ? value.length : 0), 0)
  return [
    ...entries.flatMap(([key, value]): FieldError[] => {
      const problem = dataKeyProblem(key)
      if (problem !== undefined)
        return [{ field: `${field}[${key}]`, reason: 'FieldValueInvalid', value: key, detail: problem }]
      if (typeof value !== 'string')
        return [{ field: `${field}[${key}]`, reason: 'FieldValueTypeInvalid', value, detail: 'must be a string' }]
      return isBase64 && !isBase64Text(value)
        ? [{ field: `${field}[${key}]`, reason: 'FieldValueInvalid', detail: 'illegal base64 data' }]
        : []
    }),
    ...(size > MAX_SECRET_BYTES * (isBase64 ? 4 / 3 : 1) + 4
      ? [{ field, reason: 'FieldValueTooLong' as const, detail: `may not be more than ${MAX_SECRET_BYTES} bytes` }]
      : []),
  ]
}

const isBase64Text = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/** A kind's status is written by itself; computers report theirs as they join, with what they create. */
export const dropsStatusOnCreate = ({ kind, isCustom }: KindEntry, { hasStatus }: KindVersion): boolean =>
  hasStatus && (isCustom || kind !== 'Node')
