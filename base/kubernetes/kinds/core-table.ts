import { fieldsNamed, type CrdSchema } from '../crds/crd-schemas.js'
import { DEFINITION_SCHEMA } from '../crds/definition-schema.js'
import { VALIDATING_WEBHOOKS_SCHEMA } from '../webhooks/webhook-schema.js'
import { EVENT_SCHEMA, LEASE_SCHEMA } from './core-schemas.js'
import { groupIn, resourceName, type KindEntry } from './kind-entry.js'
import { KindSchema } from './kind-schema.js'

/** A kind of Kubernetes itself, which no CustomResourceDefinition brings. */
interface CoreKind {
  apiVersion: string
  plural: string
  shortNames?: readonly string[]
  isNamespaced?: false
  hasStatus?: false
  hasGeneration?: false
  nameForm?: KindEntry['nameForm']
  /** All fields that it has; absent where the objects keep what they are sent. */
  schema?: CrdSchema
}

/** Objects that are no wish and no state of something: they have no status, and nothing counts their changes. */
const PLAIN = { hasStatus: false, hasGeneration: false } as const

export const CORE_KINDS = {
  ConfigMap: {
    apiVersion: 'v1',
    plural: 'configmaps',
    shortNames: ['cm'],
    schema: { properties: fieldsNamed('data', 'binaryData', 'immutable') },
    ...PLAIN,
  },
  CustomResourceDefinition: {
    apiVersion: 'apiextensions.k8s.io/v1',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    isNamespaced: false,
    schema: DEFINITION_SCHEMA,
  },
  Deployment: { apiVersion: 'apps/v1', plural: 'deployments', shortNames: ['deploy'] },
  Event: {
    apiVersion: 'v1',
    plural: 'events',
    shortNames: ['ev'],
    nameForm: 'segment',
    schema: EVENT_SCHEMA,
    ...PLAIN,
  },
  Lease: { apiVersion: 'coordination.k8s.io/v1', plural: 'leases', schema: LEASE_SCHEMA, ...PLAIN },
  Namespace: {
    apiVersion: 'v1',
    plural: 'namespaces',
    shortNames: ['ns'],
    isNamespaced: false,
    hasGeneration: false,
    nameForm: 'label',
  },
  Node: { apiVersion: 'v1', plural: 'nodes', shortNames: ['no'], isNamespaced: false, hasGeneration: false },
  Secret: {
    apiVersion: 'v1',
    plural: 'secrets',
    schema: { properties: fieldsNamed('data', 'stringData', 'type', 'immutable') },
    ...PLAIN,
  },
  ValidatingWebhookConfiguration: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    plural: 'validatingwebhookconfigurations',
    isNamespaced: false,
    hasStatus: false,
    schema: VALIDATING_WEBHOOKS_SCHEMA,
  },
} as const satisfies Readonly<Record<string, CoreKind>>

/** The kinds of Kubernetes itself, as they are served. */
export const coreEntries = (): KindEntry[] =>
  Object.entries<CoreKind>(CORE_KINDS).map(([kind, core]) => coreEntry(kind, core))

function coreEntry(kind: string, core: CoreKind): KindEntry {
  const { apiVersion, plural, shortNames = [], schema } = core
  const group = groupIn(apiVersion)
  const version = {
    name: apiVersion.split('/').at(-1)!,
    schema: new KindSchema(schema, schema ? 'whole' : 'part'),
    hasStatus: core.hasStatus ?? true,
    selectableFields: [],
  }
  return {
    resource: resourceName(plural, group),
    kind,
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    plural,
    group,
    shortNames,
    categories: [],
    isNamespaced: core.isNamespaced ?? true,
    isCustom: false,
    hasGeneration: core.hasGeneration ?? true,
    nameForm: core.nameForm ?? 'subdomain',
    versions: [version],
    storage: version,
  }
}
