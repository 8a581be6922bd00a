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
