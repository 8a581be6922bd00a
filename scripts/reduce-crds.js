/**
 * Reduces CustomResourceDefinitions to what a program checks: names, types, patterns, enums, required fields, defaults;
 * and to the columns in which kubectl shows objects.
 *
 *     node scripts/reduce-crds.js NAME FILE... > base/kubernetes/crds/NAME.json
 *
 * NAME says which release they are of. The descriptions of fields, which are most of a file, are left out. A new release is a new
 * file, and its import in `base/kubernetes/crds/crd-schemas.ts`.
 */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** Members of a schema that say what a value may be. */
const KEPT = new Set([
  'type',
  'format',
  'enum',
  'pattern',
  'default',
  'nullable',
  'required',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
])

const mapped = (members, change) =>
  Object.fromEntries(Object.entries(members).map(([name, each]) => [name, change(each)]))

function reduceSchema(schema) {
  const reduced = {}
  for (const [name, value] of Object.entries(schema)) {
    if (KEPT.has(name)) reduced[name] = value
    else if (name === 'properties') reduced.properties = mapped(value, reduceSchema)
    else if (name === 'items' || name === 'additionalProperties')
      reduced[name] = typeof value === 'object' ? reduceSchema(value) : value
    else if (name === 'anyOf') reduced.anyOf = value.map(reduceSchema)
  }
  return reduced
}

function reduceDefinition({ spec }) {
  const { group, names, scope, versions } = spec
  const { kind, plural, shortNames = [], categories } = names
  const {
    name: version,
    subresources,
    schema,
    additionalPrinterColumns: columns,
  } = versions.find(({ storage }) => storage)
  return [
    kind,
    {
      apiVersion: `${group}/${version}`,
      plural,
      shortNames,
      ...(categories && { categories }),
      isNamespaced: scope === 'Namespaced',
      hasStatus: subresources?.status !== undefined,
      ...(columns && { columns }),
      schema: reduceSchema(schema.openAPIV3Schema),
    },
  ]
}

const [release, ...files] = process.argv.slice(2)
const definitions = files.map((file) => reduceDefinition(parse(readFileSync(file, 'utf8'))))
const kinds = Object.fromEntries(definitions.sort(([a], [b]) => (a < b ? -1 : 1)))
process.stdout.write(`${JSON.stringify({ release, kinds })}\n`)
