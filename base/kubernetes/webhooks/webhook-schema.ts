import type { CrdSchema } from '../crds/crd-schemas.js'

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

/** The form of a ValidatingWebhookConfiguration: k8s.io/api admissionregistration/v1. Its rules are beside it. */
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
