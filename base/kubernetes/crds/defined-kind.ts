import { defined } from '../../runtime/index.js'
import type { JsonMembers } from '../kube-json.js'
import { resourceName, type KindEntry, type KindVersion, type ScalePaths } from '../kinds/kind-entry.js'
import { KindSchema } from '../kinds/kind-schema.js'
import type { CrdColumn, CrdSchema } from './crd-schemas.js'

/** A version of a definition, whose form and rules have been checked. */
export interface DefinedVersion {
  name: string
  served: boolean
  storage: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema?: { openAPIV3Schema?: CrdSchema }
  subresources?: { status?: object; scale?: ScalePaths }
  additionalPrinterColumns?: readonly CrdColumn[]
  selectableFields?: readonly { jsonPath: string }[]
}

export interface DefinedNames {
  kind: string
  plural: string
  singular?: string
  listKind?: string
  shortNames?: readonly string[]
  categories?: readonly string[]
}

/** `spec` of a definition. */
export interface DefinitionSpec {
  group: string
  scope: 'Cluster' | 'Namespaced'
  names: DefinedNames
  versions: readonly DefinedVersion[]
  preserveUnknownFields?: boolean
  conversion?: { strategy: string }
}

/** @param definition one that `DEFINITION_SCHEMA` accepts */
export const specOf = (definition: JsonMembers): DefinitionSpec => definition['spec'] as unknown as DefinitionSpec

/** The kind that a definition makes. */
export function definedKind(spec: DefinitionSpec): KindEntry {
  const { group, names, scope } = spec
  const { kind, plural, singular = kind.toLowerCase(), listKind = `${kind}List` } = names
  const all = spec.versions.map((version) => ({ version, made: definedVersion(spec, version) }))
  const served = all.filter(({ version }) => version.served).map(({ made }) => made)
  return {
    resource: resourceName(plural, group),
    kind,
    listKind,
    singular,
    plural,
    group,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    isNamespaced: scope === 'Namespaced',
    isCustom: true,
    hasGeneration: true,
    nameForm: 'subdomain',
    versions: served.sort((a, b) => compareVersions(a.name, b.name)),
    storage: all.find(({ version }) => version.storage)!.made,
  }
}

function definedVersion({ group, names }: DefinitionSpec, version: DefinedVersion): KindVersion {
  const { name, schema, subresources, deprecated, selectableFields = [] } = version
  const warning = version.deprecationWarning ?? `${group}/${name} ${names.kind} is deprecated`
  return {
    name,
    schema: new KindSchema(schema?.openAPIV3Schema),
    hasStatus: subresources?.status !== undefined,
    selectableFields: selectableFields.map(({ jsonPath }) => jsonPath),
    ...defined({
      columns: version.additionalPrinterColumns,
      scale: subresources?.scale,
      deprecation: deprecated ? warning : undefined,
    }),
  }
}

const STAGES = ['alpha', 'beta', '']

/** The preferred version first: apimachinery pkg/version/helpers.go, CompareKubeAwareVersionStrings. */
export function compareVersions(a: string, b: string): number {
  const one = versionParts(a)
  const other = versionParts(b)
  if (!one || !other) return one ? -1 : other ? 1 : a < b ? -1 : 1
  const at = one.findIndex((part, index) => part !== other[index])
  return at < 0 ? 0 : other[at]! - one[at]!
}

/** Stage, major and minor number of a version such as `v1beta2`. */
function versionParts(name: string): readonly number[] | undefined {
  const found = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(name)
  return found ? [STAGES.indexOf(found[2] ?? ''), Number(found[1]), Number(found[3] ?? 0)] : undefined
}
