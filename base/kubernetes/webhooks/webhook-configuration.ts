import type { CrdSchema } from '../crds/crd-schemas.js'
import { isMembers, type JsonMembers, type KubeJson } from '../kube-json.js'
import type { FieldError } from '../refusals.js'

/** Objects that a webhook is asked about, by their labels. */
export interface WebhookSelector {
  matchLabels?: Readonly<Record<string, string>>
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[]
}

export interface WebhookRule {
  operations: readonly string[]
  apiGroups: readonly string[]
  apiVersions: readonly string[]
  resources: readonly string[]
  scope?: '*' | 'Cluster' | 'Namespaced'
}

/** A webhook of a ValidatingWebhookConfiguration, as the API takes it: k8s.io/api admissionregistration/v1. */
export interface ValidatingWebhook {
  name: string
  clientConfig: {
    url: string
    /** PEM of an authority, as base64. */
    caBundle?: string
  }
  rules?: readonly WebhookRule[]
  failurePolicy?: 'Fail' | 'Ignore'
  matchPolicy?: 'Equivalent' | 'Exact'
  namespaceSelector?: WebhookSelector
  objectSelector?: WebhookSelector
  timeoutSeconds?: number
}

const text: CrdSchema = { type: 'string' }
const texts: CrdSchema = { type: 'array', items: text }
const selector: CrdSchema = {
  type: 'object',
  properties: {
    matchLabels: { type: 'object', additionalProperties: text },
    matchExpressions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: text,
          operator: { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: texts,
        },
      },
    },
  },
}
const rule: CrdSchema = {
  type: 'object',
  required: ['operations', 'apiGroups', 'apiVersions', 'resources'],
  properties: {
    operations: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', enum: ['*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'] },
    },
    apiGroups: texts,
    apiVersions: texts,
    resources: texts,
    scope: { type: 'string', enum: ['*', 'Cluster', 'Namespaced'] },
  },
}

export const VALIDATING_WEBHOOKS_SCHEMA: CrdSchema = {
  type: 'object',
  properties: {
    webhooks: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'clientConfig', 'sideEffects', 'admissionReviewVersions'],
        properties: {
          name: text,
          clientConfig: {
            type: 'object',
            properties: {
              url: text,
              caBundle: { type: 'string', format: 'byte' },
              service: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
          rules: { type: 'array', items: rule },
          failurePolicy: { type: 'string', enum: ['Fail', 'Ignore'], default: 'Fail' },
          matchPolicy: { type: 'string', enum: ['Equivalent', 'Exact'], default: 'Equivalent' },
          namespaceSelector: selector,
          objectSelector: selector,
          sideEffects: { type: 'string', enum: ['None', 'NoneOnDryRun'] },
          timeoutSeconds: { type: 'integer', minimum: 1, maximum: 30, default: 10 },
          admissionReviewVersions: { ...texts, minItems: 1 },
          matchConditions: { type: 'array', items: { type: 'object', properties: { name: text, expression: text } } },
        },
      },
    },
  },
}

/** Errors of a configuration that its schema does not know: kubernetes pkg/apis/admissionregistration/validation. */
export function webhookErrors({ webhooks }: JsonMembers): FieldError[] {
  const list = Array.isArray(webhooks) ? (webhooks as readonly KubeJson[]).filter(isMembers) : []
  return list.flatMap((webhook, index) => {
    const { clientConfig, admissionReviewVersions, matchConditions } = webhook
    const field = `webhooks[${index}]`
    const errors = clientErrors(`${field}.clientConfig`, isMembers(clientConfig) ? clientConfig : {})
    const versions = Array.isArray(admissionReviewVersions) ? (admissionReviewVersions as KubeJson[]) : []
    if (!versions.includes('v1'))
      errors.push({
        field: `${field}.admissionReviewVersions`,
        reason: 'FieldValueInvalid',
        value: versions,
        detail: 'must include at least one of v1',
      })
    if (Array.isArray(matchConditions) && matchConditions.length > 0)
      errors.push({
        field: `${field}.matchConditions`,
        reason: 'FieldValueForbidden',
        detail: 'this API evaluates no conditions in CEL: use rules and selectors',
      })
    return errors
  })
}

function clientErrors(field: string, { url, service }: JsonMembers): FieldError[] {
  if (service !== undefined)
    return [
      {
        field: `${field}.service`,
        reason: 'FieldValueForbidden',
        detail: 'this API has no services: name the webhook by its address in clientConfig.url',
      },
    ]
  if (typeof url !== 'string' || url === '')
    return [{ field, reason: 'FieldValueRequired', detail: 'exactly one of url or service is required' }]
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const problem =
    parsed?.protocol !== 'https:'
      ? "'https' is the only allowed URL scheme"
      : parsed.username !== '' || parsed.password !== ''
        ? 'user information is not permitted in URL'
        : parsed.hash !== ''
          ? 'fragments are not permitted in URL'
          : parsed.search === ''
            ? undefined
            : 'query parameters are not permitted in URL'
  if (problem === undefined) return []
  return [
    {
      field: `${field}.url`,
      reason: 'FieldValueInvalid',
      value: url,
      detail: `${problem}; desired format: https://host[/path]`,
    },
  ]
}
