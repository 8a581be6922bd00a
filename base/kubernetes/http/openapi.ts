import { OBJECT_META, type CrdSchema } from '../crds/crd-schemas.js'
import { groupVersion, type KindEntry, type KindVersion } from '../kinds/kind-entry.js'
import type { KindRegistry } from '../kinds/kind-registry.js'

/**
 * OpenAPI v3 documents of groups, as `kubectl explain` reads them: a path names the kind of a resource, a schema its fields.
 * kubectl also looks there for the parameters that a PATCH takes, before it leaves validation to the server.
 */
interface DescribedKind {
  entry: KindEntry
  version: KindVersion
}

const describedKinds = (kinds: KindRegistry): DescribedKind[] =>
  kinds.all().flatMap((entry) => entry.versions.map((version) => ({ entry, version })))

/** `api/v1`, `apis/metal3.io/v1alpha1`. */
const groupPath = ({ entry: { group }, version: { name } }: DescribedKind): string =>
  `${group === '' ? 'api' : 'apis'}/${groupVersion(group, name)}`

/** The list of documents, or the one of a group; undefined for another path below `/openapi/v3`. */
export function openApiDocument(path: readonly string[], registry: KindRegistry): object | undefined {
  const kinds = describedKinds(registry)
  if (path.length === 0) {
    const documents = kinds.map((each) => {
      const at = groupPath(each)
      return [at, { serverRelativeURL: `/openapi/v3/${at}` }]
    })
    return { paths: Object.fromEntries(documents) as object }
  }
  const wanted = path.join('/')
  const own = kinds.filter((each) => groupPath(each) === wanted)
  return own.length === 0 ? undefined : groupDocument(wanted, own)
}

function groupDocument(path: string, kinds: readonly DescribedKind[]): object {
  const schemas = kinds.map((each) => [schemaName(each), shownSchema(each)])
  return {
    openapi: '3.0.0',
    info: { title: 'ironstage', version: 'v0' },
    paths: Object.fromEntries(kinds.flatMap((each) => kindPaths(path, each))) as object,
    components: { schemas: Object.fromEntries(schemas) as object },
  }
}

/** `io.metal3.v1alpha1.BareMetalHost`: as apiextensions-apiserver names schemas of CustomResources. */
function schemaName({ entry: { group, kind }, version: { name } }: DescribedKind): string {
  const reversed = group === '' ? ['core'] : group.split('.').reverse()
  return [...reversed, name, kind].join('.')
}

const kindOf = ({ entry: { group, kind }, version: { name } }: DescribedKind) => ({ group, version: name, kind })

const TEXT: CrdSchema = { type: 'string' }

function shownSchema(kind: DescribedKind): object {
  const { properties, ...schema } = kind.version.schema.fields
  const metadata = { type: 'object', properties: OBJECT_META.properties }
  return {
    ...schema,
    type: 'object',
    properties: { ...properties, apiVersion: TEXT, kind: TEXT, metadata },
    'x-kubernetes-group-version-kind': [kindOf(kind)],
  }
}

const PATCH_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({ name, in: 'query' }))

function kindPaths(group: string, kind: DescribedKind): [string, object][] {
  const { plural, isNamespaced } = kind.entry
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
