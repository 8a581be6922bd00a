import { isMembers, isSameJson, type JsonMembers } from '../kube-json.js'
import { nameProblem } from '../object-names.js'
import type { FieldError } from '../refusals.js'
import { specOf, type DefinedNames, type DefinedVersion, type DefinitionSpec } from './defined-kind.js'
import { isTrueIn } from './definition-status.js'
import { structuralErrors } from './structural.js'

const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  field,
  reason: 'FieldValueInvalid',
  value,
  detail,
})
const required = (field: string, detail = ''): FieldError => ({ field, reason: 'FieldValueRequired', detail })

const LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?'
const IS_LABEL = new RegExp(`^${LABEL}$`)

/** IsDNS1035Label of apimachinery pkg/util/validation. */
function labelProblem(text: string): string | undefined {
  if (text.length > 63) return 'must be no more than 63 characters'
  if (IS_LABEL.test(text)) return undefined
  return `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL}')`
}

/**
 * Errors of a definition whose form is right: apiextensions-apiserver pkg/apis/apiextensions/validation.
 *
 * @param before the definition that is changed; absent for a new one
 */
export function definitionErrors(definition: JsonMembers, before: JsonMembers | undefined): FieldError[] {
  const spec = specOf(definition)
  const { group, names, versions } = spec
  const metadata = isMembers(definition['metadata']) ? definition['metadata'] : {}
  const errors: FieldError[] = []
  if (metadata['name'] !== `${names.plural}.${group}`)
    errors.push(invalid('metadata.name', metadata['name'], 'must be spec.names.plural+"."+spec.group'))
  errors.push(...groupErrors(group), ...nameErrors(names))
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    errors.push(invalid('spec.versions', versions, 'must contain unique version names'))
  if (versions.filter(({ storage }) => storage).length !== 1)
    errors.push(invalid('spec.versions', versions, 'must have exactly one version marked as storage version'))
  errors.push(...versions.flatMap((version, index) => versionErrors(version, `spec.versions[${index}]`)))
  errors.push(...conversionErrors(spec), ...approvalErrors(group, metadata, before))
  return before ? [...errors, ...changeErrors(definition, before)] : errors
}

function groupErrors(group: string): FieldError[] {
  if (group === '') return [required('spec.group')]
  const problem = nameProblem(group)
  if (problem !== undefined) return [invalid('spec.group', group, problem)]
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')]
}

function nameErrors(names: DefinedNames): FieldError[] {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names
  const label = (name: string, text: string, before = ''): FieldError[] => {
    const problem = labelProblem(text.toLowerCase() === text || before === '' ? text : text.toLowerCase())
    return problem === undefined ? [] : [invalid(`spec.names.${name}`, text, `${before}${problem}`)]
  }
  const mixed = 'may have mixed case, but should otherwise match: '
  return [
    ...(plural === '' ? [required('spec.names.plural')] : label('plural', plural)),
    ...label('singular', singular),
    ...(kind === '' ? [required('spec.names.kind')] : label('kind', kind, mixed)),
    ...label('listKind', listKind, mixed),
    ...shortNames.flatMap((each, index) => label(`shortNames[${index}]`, each)),
    ...(kind !== '' && kind === listKind
      ? [invalid('spec.names.listKind', listKind, 'kind and listKind may not be the same')]
      : []),
    ...categories.flatMap((each, index) => label(`categories[${index}]`, each)),
  ]
}

function versionErrors(version: DefinedVersion, path: string): FieldError[] {
  const { name, schema, subresources, deprecated = false, deprecationWarning } = version
  const problem = labelProblem(name)
  const root = schema?.openAPIV3Schema
  const schemaPath = `${path}.schema.openAPIV3Schema`
  return [
    ...(problem === undefined ? [] : [invalid(`${path}.name`, name, problem)]),
    ...(deprecationWarning !== undefined && !deprecated
      ? [invalid(`${path}.deprecationWarning`, deprecationWarning, 'can only be set for deprecated versions')]
      : []),
    ...(root === undefined ? [required(schemaPath)] : structuralErrors(root as unknown as JsonMembers, schemaPath)),
    ...scaleErrors(subresources, `${path}.subresources`),
    ...columnErrors(version, path),
    ...selectableErrors(version, path),
  ]
}

const IS_SIMPLE_PATH = /^(\.[A-Za-z_][A-Za-z0-9_-]*)+$/

function scaleErrors(subresources: DefinedVersion['subresources'], path: string): FieldError[] {
  const { scale } = subresources ?? {}
  if (!scale) return []
  const wrong = (name: 'specReplicasPath' | 'statusReplicasPath', root: string): FieldError[] => {
    const value = scale[name]
    const field = `${path}.scale.${name}`
    if (value === '') return [required(field)]
    return IS_SIMPLE_PATH.test(value) && value.startsWith(`.${root}.`)
      ? []
      : [invalid(field, value, `should be a json path under .${root}`)]
  }
  return [...wrong('specReplicasPath', 'spec'), ...wrong('statusReplicasPath', 'status')]
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']

function columnErrors({ additionalPrinterColumns = [] }: DefinedVersion, path: string): FieldError[] {
  return additionalPrinterColumns.flatMap(({ type, jsonPath }, index) => {
    const field = `${path}.additionalPrinterColumns[${index}]`
    return [
      ...(COLUMN_TYPES.includes(type)
        ? []
        : [invalid(`${field}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`)]),
      ...(jsonPath.startsWith('.')
        ? []
        : [invalid(`${field}.jsonPath`, jsonPath, 'must be a simple json path starting with .')]),
    ]
  })
}

/** Fields by which a definition lets objects be selected. */
const MAX_SELECTABLE_FIELDS = 8

function selectableErrors({ selectableFields = [] }: DefinedVersion, path: string): FieldError[] {
  const errors = selectableFields.flatMap(({ jsonPath }, index): FieldError[] => {
    const field = `${path}.selectableFields[${index}].jsonPath`
    if (!IS_SIMPLE_PATH.test(jsonPath)) return [invalid(field, jsonPath, 'is an invalid path: must be a simple path')]
    return jsonPath.startsWith('.metadata.') ? [invalid(field, jsonPath, 'must not point to fields in metadata')] : []
  })
  if (selectableFields.length <= MAX_SELECTABLE_FIELDS) return errors
  const tooMany: FieldError = {
    field: `${path}.selectableFields`,
    reason: 'FieldValueTooMany',
    value: selectableFields.length,
    detail: `must have at most ${MAX_SELECTABLE_FIELDS} items`,
  }
  return [...errors, tooMany]
}

function conversionErrors({ conversion, preserveUnknownFields }: DefinitionSpec): FieldError[] {
  const errors: FieldError[] = []
  if (preserveUnknownFields === true)
    errors.push(
      invalid(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    )
  const { strategy = 'None' } = conversion ?? {}
  if (strategy === 'Webhook')
    errors.push(
      invalid(
        'spec.conversion.strategy',
        strategy,
        'this API converts between versions without a webhook: use None, or apply the definition without spec.conversion',
      ),
    )
  else if (strategy !== 'None')
    errors.push({
      field: 'spec.conversion.strategy',
      reason: 'FieldValueNotSupported',
      value: strategy,
      detail: 'supported values: "None", "Webhook"',
    })
  return errors
}

const APPROVAL = 'api-approved.kubernetes.io'

/** Groups of Kubernetes' own community need an approval, or the word that there is none. */
function approvalErrors(group: string, metadata: JsonMembers, before: JsonMembers | undefined): FieldError[] {
  const isProtected = /(^|\.)(k8s|kubernetes)\.io$/.test(group)
  if (!isProtected || before) return []
  const annotations = isMembers(metadata['annotations']) ? metadata['annotations'] : {}
  const text = String(annotations[APPROVAL] ?? '')
  const field = `metadata.annotations[${APPROVAL}]`
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
  if (text === '') return [required(field, `protected groups must have approval annotation "${APPROVAL}", ${see}`)]
  if (text.startsWith('unapproved') || URL.canParse(text)) return []
  const detail = `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", ${see}`
  return [invalid(field, text, detail)]
}

/** Errors of a change of what stays as it is once the definition has been established. */
function changeErrors(definition: JsonMembers, before: JsonMembers): FieldError[] {
  const spec = specOf(definition)
  const old = specOf(before)
  const same = (field: string, value: string, was: string): FieldError[] =>
    isSameJson(value, was) ? [] : [invalid(field, value, 'field is immutable')]
  return [
    ...(isTrueIn(before, 'Established')
      ? [...same('spec.scope', spec.scope, old.scope), ...same('spec.names.kind', spec.names.kind, old.names.kind)]
      : []),
    ...same('spec.group', spec.group, old.group),
    ...same('spec.names.plural', spec.names.plural, old.names.plural),
    ...storedErrors(definition, spec),
  ]
}

function storedErrors({ status }: JsonMembers, { versions }: DefinitionSpec): FieldError[] {
  const stored = isMembers(status) && Array.isArray(status['storedVersions']) ? status['storedVersions'] : []
  const names = new Set(versions.map(({ name }) => name))
  return stored.flatMap((each: unknown, index) =>
    names.has(String(each))
      ? []
      : [
          invalid(
            `status.storedVersions[${index}]`,
            each,
            `missing from spec.versions; ${String(each)} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${String(each)} and removes ${String(each)} from status.storedVersions`,
          ),
        ],
  )
}
