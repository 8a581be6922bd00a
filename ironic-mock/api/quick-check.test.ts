import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  IRONIC_OPERATIONS,
  localLinkConnectionSchema,
  networkDataSchema,
  patchedNodeSchema,
  type JsonSchema,
  type IronicOperation,
} from '../../base/wire/index.js'
import { isMac, isUuid } from './formats.js'
import { isValidWithoutAjv } from './quick-check.js'

const schemasOf = ({ body, querySchema }: IronicOperation): JsonSchema[] => [
  ...(body && 'document' in body ? [body.document] : []),
  ...(querySchema ? [querySchema] : []),
]
const schemas = [
  ...new Set([
    ...(IRONIC_OPERATIONS as readonly IronicOperation[]).flatMap(schemasOf),
    localLinkConnectionSchema,
    networkDataSchema,
    patchedNodeSchema,
  ]),
]

const plain = fc.oneof(
  ...[fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.constant([]), fc.constant({})],
  ...[fc.uuid(), fc.constantFrom('52:54:00:cc:00:03', 'x'.repeat(300), '\u{1f600}'.repeat(80), '/extra/a', '12')],
)

/** Values that are often valid by a schema, and often just not. */
function nearly(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { type, properties, items, anyOf } = schema as Record<string, never>
  const good: fc.Arbitrary<unknown>[] = []
  if (Array.isArray(schema.enum)) good.push(fc.constantFrom(...(schema.enum as unknown[])))
  else if (anyOf) good.push(...(anyOf as JsonSchema[]).map((each) => nearly({ type, ...each })))
  else if (items) good.push(fc.array(nearly(items), { maxLength: 3 }))
  else if (properties) {
    const each = Object.entries(properties as Record<string, JsonSchema>).map(([name, one]) => [name, nearly(one)])
    good.push(fc.record({ ...Object.fromEntries(each), nosuch: plain } as never, { requiredKeys: [] }))
    const { required = [] } = schema as { required?: string[] }
    good.push(fc.record(Object.fromEntries(each.filter(([name]) => required.includes(name as string))) as never))
  } else if ([type].flat().includes('object' as never)) good.push(fc.constant({ a: 1 }))
  else if ([type].flat().includes('integer' as never)) good.push(fc.integer())
  else good.push(fc.string())
  return fc.oneof(...good.map((arbitrary) => ({ arbitrary, weight: 6 })), { arbitrary: plain, weight: 1 })
}

test('surely valid values are valid by ajv too', () => {
  const ajv = new Ajv({
    strict: false,
    meta: false,
    validateSchema: false,
    formats: { uuid: isUuid, 'mac-address': isMac },
  })
  let valid = 0
  for (const schema of schemas) {
    const validate = ajv.compile(schema)
    let ours = 0
    fc.assert(
      fc.property(nearly(schema), (value) => {
        const sure = isValidWithoutAjv(schema, value)
        if (sure) ours++
        if (sure) expect(validate(value)).toBe(true)
      }),
    )
    if (ours > 0) valid++
  }
  expect(valid).toBeGreaterThan(schemas.length * 0.8)
})

test.each(['nodes.create', 'nodes.patch', 'ports.create', 'ports.patch', 'portgroups.create', 'allocations.create'])(
  'documents of %s need no ajv',
  (id) => {
    const [schema] = schemasOf(
      (IRONIC_OPERATIONS as readonly IronicOperation[]).find((operation) => operation.id === id)!,
    )
    const validate = new Ajv({
      strict: false,
      meta: false,
      validateSchema: false,
      formats: { uuid: isUuid, 'mac-address': isMac },
    }).compile(schema!)
    fc.assert(
      fc.property(nearly(schema!), (value) => {
        expect(isValidWithoutAjv(schema!, value)).toBe(validate(value))
      }),
    )
  },
)
