import { OBJECT_META, type CrdSchema } from '../crds/crd-schemas.js'
import { KUBE_KINDS, type KubeKind } from '../kinds.js'
import { kindSchema } from '../validation.js'

/**
 * OpenAPI v3 documents of groups, as `kubectl explain` reads them: a path names the kind of a resource, a schema its fields.
 * kubectl also looks there for the parameters that a PATCH takes, before it leaves validation to the server.
 */
const KIND_NAMES = Object.keys(KUBE_KINDS) as KubeKind[]

/** `api/v1`, `apis/metal3.io/v1alpha1`. */
const groupPath = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`

const GROUP_PATHS: readonly string[] = [...new Set(KIND_NAMES.map((kind) => groupPath(KUBE_KINDS[kind])))]

/** The list of documents, or the one of a group; undefined for another path below `/openapi/v3`. */
export function openApiDocument(path: readonly string[]): object | undefined {
  if (path.length === 0) {
    const documents = GROUP_PATHS.map((each) => [each, { serverRelativeURL: `/openapi/v3/${each}` }])
    return { paths: Object.fromEntries(documents) as object }
  }
  const wanted = path.join('/')
  return GROUP_PATHS.includes(wanted) ? groupDocument(wanted) : undefined
}

function groupDocument(path: string): object {
  const kinds = KIND_NAMES.filter((kind) => groupPath(KUBE_KINDS[kind]) === path)
  const schemas = kinds.map((kind) => [schemaName(kind), shownSchema(kind)])
  return {
    openapi: '3.0.0',
    info: { title: 'ironstage', version: 'v0' },
    paths: Object.fromEntries(kinds.flatMap((kind) => kindPaths(path, kind))) as object,
    components: { schemas: Object.fromEntries(schemas) as object },
  }
}

/** `io.metal3.v1alpha1.BareMetalHost`: as apiextensions-apiserver names schemas of CustomResources. */
function schemaName(kind: KubeKind): string {
  const { group, version } = KUBE_KINDS[kind]
  const reversed = group === '' ? ['core'] : group.split('.').reverse()
  return [...reversed, version, kind].join('.')
}

const kindOf = (kind: KubeKind) => {
  const { group, version } = KUBE_KINDS[kind]
  return { group, version, kind }
}

const TEXT: CrdSchema = { type: 'string' }

function shownSchema(kind: KubeKind): object {
  const { properties, ...schema } = kindSchema(kind)
  const metadata = { type: 'object', properties: OBJECT_META.properties }
  return {
    ...schema,
    type: 'object',
    properties: { ...properties, apiVersion: TEXT, kind: TEXT, metadata },
    'x-kubernetes-group-version-kind': [kindOf(kind)],
  }
}

const PATCH_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({ name, in: 'query' }))

function kindPaths(group: string, kind: KubeKind): [string, object][] {
  const { plural, isNamespaced } = KUBE_KINDS[kind]
  const collection = `/${group}/${isNamespaced ? 'namespaces/{namespace}/' : ''}${plural}`
  const operation = {
    'x-kubernetes-group-version-kind': kindOf(kind),
    responses: { '200': { description: 'OK' } },
  }
  const written = { ...operation, parameters: PATCH_PARAMETERS }
  return [
    [collection, { get: operation, post: written }],
    [`${collection}/{name}`, { get: operation, put: written, patch: written, delete: operation }],
  ]
}
