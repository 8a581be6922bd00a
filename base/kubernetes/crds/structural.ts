import { isMembers, isSameJson, type JsonMembers, type KubeJson } from '../kube-json.js'
import type { FieldError } from '../refusals.js'
import { goPattern } from './go-pattern.js'

/**
 * Rules of structural schemas: apiextensions-apiserver pkg/apiserver/schema/validation.go and complete.go, and of
 * pkg/apis/apiextensions/validation those that every schema of a definition has to keep.
 */
type SchemaLevel = 'root' | 'item' | 'field'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Keywords that a schema of a definition may not have. */
const REFUSED_KEYWORDS: readonly string[] = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
]

/** Keywords that a value validation may not have, and how their refusal says so. */
const NESTED_REFUSALS: Readonly<Record<string, string>> = {
  type: 'must be empty to be structural',
  additionalProperties: 'must be undefined to be structural',
  default: 'must be undefined to be structural',
  title: 'must be empty to be structural',
  description: 'must be empty to be structural',
  nullable: 'must be false to be structural',
  'x-kubernetes-preserve-unknown-fields': 'must be false to be structural',
  'x-kubernetes-embedded-resource': 'must be false to be structural',
  'x-kubernetes-int-or-string': 'must be false to be structural',
  'x-kubernetes-list-map-keys': 'must be empty to be structural',
  'x-kubernetes-list-type': 'must be undefined to be structural',
  'x-kubernetes-map-type': 'must be undefined to be structural',
  'x-kubernetes-validations': 'must be empty to be structural',
}

const MISSING_TYPES: Readonly<Record<SchemaLevel, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }]

const quantifiers = ['allOf', 'anyOf', 'oneOf'] as const

const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  field,
  reason: 'FieldValueInvalid',
  value,
  detail,
})
const required = (field: string, detail: string): FieldError => ({ field, reason: 'FieldValueRequired', detail })
const forbidden = (field: string, detail: string): FieldError => ({ field, reason: 'FieldValueForbidden', detail })
const child = (field: string, name: string): string => `${field}.${name}`
const keyed = (field: string, key: string): string => `${field}.properties[${key}]`
const membersIn = (value: KubeJson | undefined): [string, KubeJson][] => (isMembers(value) ? Object.entries(value) : [])
const listIn = (value: KubeJson | undefined): readonly KubeJson[] =>
  Array.isArray(value) ? (value as readonly KubeJson[]) : []

/** Errors of a schema, sorted by their field. @param path `spec.versions[0].schema.openAPIV3Schema` */
export function structuralErrors(schema: JsonMembers, path: string): FieldError[] {
  const check = new StructuralCheck()
  check.visit(schema, 'root', path)
  return check.errors.sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0))
}

class StructuralCheck {
  readonly errors: FieldError[] = []

  visit(schema: KubeJson | undefined, level: SchemaLevel, path: string): void {
    if (schema === undefined) return
    if (!isMembers(schema)) {
      const detail = Array.isArray(schema) ? 'must be a schema object and not an array' : 'must be a schema object'
      this.errors.push(path.endsWith('.items') ? forbidden(path, `items ${detail}`) : invalid(path, schema, detail))
      return
    }
    this.#checkKeywords(schema, path)
    this.#checkType(schema, level, path)
    this.#checkExtensions(schema, path)
    this.visit(schema['items'], 'item', child(path, 'items'))
    for (const [name, each] of membersIn(schema['properties'])) this.visit(each, 'field', keyed(path, name))
    const { additionalProperties } = schema
    if (additionalProperties !== undefined) {
      if (level === 'root')
        this.errors.push(forbidden(child(path, 'additionalProperties'), 'must not be used at the root'))
      if (isMembers(additionalProperties))
        this.visit(additionalProperties, 'field', child(path, 'additionalProperties'))
    }
    this.#checkValidations(schema, schema, path, path)
    if (level === 'root' || schema['x-kubernetes-embedded-resource'] === true)
      this.#checkObjectMembers(schema, level, path)
  }

  #checkKeywords(schema: JsonMembers, path: string): void {
    const { type, properties, additionalProperties, pattern } = schema
    for (const name of REFUSED_KEYWORDS)
      if (schema[name] !== undefined) this.errors.push(forbidden(child(path, name), `${name} is not supported`))
    if (typeof type === 'string' && type !== '' && !TYPES.includes(type))
      this.errors.push({
        field: child(path, 'type'),
        reason: 'FieldValueNotSupported',
        value: type,
        detail: `supported values: ${TYPES.map((each) => JSON.stringify(each)).join(', ')}`,
      })
    if (type !== undefined && typeof type !== 'string')
      this.errors.push(invalid(child(path, 'type'), type, 'must be the name of one type'))
    if (schema['uniqueItems'] === true)
      this.errors.push(
        forbidden(
          child(path, 'uniqueItems'),
          'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
        ),
      )
    if (properties !== undefined && !isMembers(properties))
      this.errors.push(invalid(child(path, 'properties'), properties, 'must be an object of schemas'))
    const isClosed = additionalProperties !== undefined && additionalProperties !== true
    if (isClosed && membersIn(properties).length > 0)
      this.errors.push(
        forbidden(child(path, 'additionalProperties'), 'additionalProperties and properties are mutual exclusive'),
      )
    if (type === 'array' && schema['items'] === undefined)
      this.errors.push(required(child(path, 'items'), 'must be specified'))
    this.#checkPattern(pattern, path)
  }

  #checkPattern(pattern: KubeJson | undefined, path: string): void {
    if (typeof pattern !== 'string') return
    try {
      goPattern(pattern)
    } catch (error) {
      const why = (error as Error).message
      this.errors.push(
        invalid(child(path, 'pattern'), pattern, `must be a valid regular expression, but isn't: ${why}`),
      )
    }
  }

  #checkType(schema: JsonMembers, level: SchemaLevel, path: string): void {
    const { type = '' } = schema
    const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
    if (isEmbedded && type !== 'object') {
      const detail = 'must be object if x-kubernetes-embedded-resource is true'
      this.errors.push(type === '' ? required(child(path, 'type'), detail) : invalid(child(path, 'type'), type, detail))
    } else if (type === '' && !hasFreeType(schema))
      this.errors.push(required(child(path, 'type'), MISSING_TYPES[level]))
    if (level === 'root' && type !== '' && type !== 'object')
      this.errors.push(invalid(child(path, 'type'), type, 'must be object at the root'))
  }

  #checkExtensions(schema: JsonMembers, path: string): void {
    const preserves = schema['x-kubernetes-preserve-unknown-fields']
    if (preserves === false)
      this.errors.push(invalid(child(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'))
    const listType = schema['x-kubernetes-list-type']
    const keys = schema['x-kubernetes-list-map-keys']
    const listPath = child(path, 'x-kubernetes-list-type')
    if (listType !== undefined && schema['type'] !== 'array')
      this.errors.push(
        invalid(child(path, 'type'), schema['type'] ?? '', 'must be array if x-kubernetes-list-type is specified'),
      )
    if (listType !== undefined && !['atomic', 'set', 'map'].includes(String(listType)))
      this.errors.push({
        field: listPath,
        reason: 'FieldValueNotSupported',
        value: listType,
        detail: 'supported values: "atomic", "set", "map"',
      })
    if (listType === 'map' && listIn(keys).length === 0)
      this.errors.push(
        required(child(path, 'x-kubernetes-list-map-keys'), 'must not be empty if x-kubernetes-list-type is map'),
      )
    if (listType !== 'map' && listIn(keys).length > 0)
      this.errors.push(required(listPath, 'must be map if x-kubernetes-list-map-keys is non-empty'))
    if (listType === 'map') this.#checkMapKeys(schema, listIn(keys), path)
  }

  #checkMapKeys(schema: JsonMembers, keys: readonly KubeJson[], path: string): void {
    const { properties } = isMembers(schema['items']) ? schema['items'] : {}
    const names = new Set(membersIn(properties).map(([name]) => name))
    const field = child(path, 'x-kubernetes-list-map-keys')
    if (keys.some((key) => !names.has(String(key))))
      this.errors.push(invalid(field, keys, 'entries must all be names of item properties'))
    if (new Set(keys).size < keys.length) this.errors.push(invalid(field, keys, 'must not contain duplicate entries'))
  }

  /** Members that every object has are not described again. */
  #checkObjectMembers(schema: JsonMembers, level: SchemaLevel, path: string): void {
    const properties = isMembers(schema['properties']) ? schema['properties'] : {}
    for (const name of ['kind', 'apiVersion']) {
      const member = properties[name]
      if (isMembers(member) && member['type'] !== 'string')
        this.errors.push(invalid(`${keyed(path, name)}.type`, member['type'] ?? '', 'must be string'))
    }
    const { metadata } = properties
    if (!isMembers(metadata)) return
    const field = keyed(path, 'metadata')
    if (metadata['type'] !== 'object')
      this.errors.push(invalid(`${field}.type`, metadata['type'] ?? '', 'must be object'))
    const described = membersIn(metadata['properties']).map(([name]) => name)
    const isMore = Object.keys(metadata).some((name) => !['type', 'description', 'properties'].includes(name))
    if (level === 'root' && (isMore || described.some((name) => name !== 'name' && name !== 'generateName')))
      this.errors.push(
        forbidden(
          field,
          'must not specify anything other than name and generateName, but metadata is implicitly specified',
        ),
      )
  }

  /**
   * Value validations have no types, and name fields that the structure has.
   *
   * @param structure the schema that they are about, at `structurePath`
   */
  #checkValidations(schema: JsonMembers, structure: JsonMembers, path: string, structurePath: string): void {
    for (const quantifier of quantifiers)
      for (const [index, each] of listIn(schema[quantifier]).entries()) {
        const at = `${child(path, quantifier)}[${index}]`
        const isOfIntOrString =
          (quantifier === 'anyOf' && isSameJson(schema['anyOf'], INT_OR_STRING)) ||
          (quantifier === 'allOf' && index === 0 && isMembers(each) && isSameJson(each['anyOf'], INT_OR_STRING))
        if (!isOfIntOrString) this.#visitNested(each, structure, at, structurePath)
      }
    if (schema['not'] !== undefined) this.#visitNested(schema['not'], structure, child(path, 'not'), structurePath)
  }

  #visitNested(nested: KubeJson, structure: KubeJson | undefined, path: string, structurePath: string): void {
    if (!isMembers(nested)) return void this.errors.push(invalid(path, nested, 'must be a schema object'))
    if (!isMembers(structure)) return void this.errors.push(required(structurePath, `because it is defined in ${path}`))
    for (const [name, detail] of Object.entries(NESTED_REFUSALS)) {
      const value = nested[name]
      if (value !== undefined && value !== false && value !== '') this.errors.push(forbidden(child(path, name), detail))
    }
    this.#checkPattern(nested['pattern'], path)
    this.#checkValidations(nested, structure, path, structurePath)
    if (nested['items'] !== undefined)
      this.#visitNested(nested['items'], structure['items'], child(path, 'items'), child(structurePath, 'items'))
    const fields = isMembers(structure['properties']) ? structure['properties'] : {}
    for (const [name, each] of membersIn(nested['properties'])) {
      if (name === 'metadata')
        this.errors.push(forbidden(keyed(path, name), 'must not be specified in a nested context'))
      this.#visitNested(each, fields[name], keyed(path, name), keyed(structurePath, name))
    }
  }
}

/** True for a value of any type, or of two. */
const hasFreeType = (schema: JsonMembers): boolean =>
  schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
