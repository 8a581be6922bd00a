import { expect, test } from 'vitest'
import { UserError } from '../../base/runtime/index.js'
import type { ControlOperation } from './control-operation.js'
import { CONTROL_OPERATIONS } from './control-operations.js'
import { checkRequest } from './request-checks.js'

const schemas = CONTROL_OPERATIONS.flatMap(({ id, query, body }: ControlOperation) => [
  ...(query ? [{ name: `the query of ${id}`, schema: { type: 'object', properties: query } }] : []),
  ...(body ? [{ name: `the body of ${id}`, schema: body }] : []),
])

test.each(schemas)('the schema of $name compiles, and refuses a text in place of an object', ({ schema }) => {
  expect(() => checkRequest(schema, 'x', 'it', { remedy: 'see the API' })).toThrow(UserError)
})
