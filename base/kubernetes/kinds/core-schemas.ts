import type { CrdSchema } from '../crds/crd-schemas.js'

/** Schemas of what controllers write besides their own kinds: k8s.io/api 0.36 core/v1 and coordination/v1. */
const text: CrdSchema = { type: 'string' }
const integer: CrdSchema = { type: 'integer' }
/** Null is the zero of Go's times. */
const time: CrdSchema = { type: 'string', format: 'date-time', nullable: true }

const reference: CrdSchema = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    name: text,
    namespace: text,
    uid: text,
    resourceVersion: text,
    fieldPath: text,
  },
}

export const EVENT_SCHEMA: CrdSchema = {
  type: 'object',
  properties: {
    involvedObject: reference,
    related: reference,
    reason: text,
    message: text,
    source: { type: 'object', properties: { component: text, host: text } },
    firstTimestamp: time,
    lastTimestamp: time,
    count: integer,
    type: text,
    eventTime: time,
    series: { type: 'object', properties: { count: integer, lastObservedTime: time } },
    action: text,
    reportingComponent: text,
    reportingInstance: text,
  },
  required: ['involvedObject'],
}

export const LEASE_SCHEMA: CrdSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        holderIdentity: text,
        leaseDurationSeconds: integer,
        acquireTime: time,
        renewTime: time,
        leaseTransitions: integer,
        strategy: text,
        preferredHolder: text,
      },
    },
  },
}
