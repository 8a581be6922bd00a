import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasTypes, ignitionSchema } from './json-schema.js'
import { ignitionSpecOf, type FieldType, type Struct } from './spec.js'
import { SPEC_VERSIONS } from './spec-versions.js'

/** Values of a field's type, and now and then of another one. */
function values(type: FieldType): fc.Arbitrary<unknown> {
  const right = (): fc.Arbitrary<unknown> => {
    switch (type.kind) {
      case 'text':
        return fc.string({ maxLength: 3 })
      case 'number':
        return fc.integer()
      case 'flag':
        return fc.boolean()
      case 'list':
        return fc.array(values(type.items), { maxLength: 2 })
      case 'struct':
        return objects(type.struct)
    }
  }
  const wrong = fc.oneof(
    fc.constantFrom<unknown>(null, 1.5, -0, 1e300, [], {}, '', true),
    fc.jsonValue({ maxDepth: 1 }),
  )
  return fc.oneof({ weight: 40, arbitrary: right() }, { weight: 1, arbitrary: wrong })
}

const objects = ({ fields }: Struct): fc.Arbitrary<unknown> =>
  fc.record(Object.fromEntries(fields.map(({ key, type }) => [key, values(type)])), { requiredKeys: [] })

test.each(SPEC_VERSIONS)('a config has the types of %s when its JSON Schema says so', (version) => {
  const { $schema: _, ...schema } = ignitionSchema(version)
  const validate = new Ajv({ meta: false, validateSchema: false, inlineRefs: false }).compile(schema)
  const seen = new Set<boolean>()
  fc.assert(
    fc.property(fc.oneof(objects(ignitionSpecOf(version).root), fc.jsonValue()), (config) => {
      seen.add(hasTypes(version, config))
      expect(hasTypes(version, config)).toBe(validate(config))
    }),
    { numRuns: 100 },
  )
  expect(seen.size).toBe(2)
})
