import { expect, test } from 'vitest'
import { CONTROL_OPERATIONS } from './control-operations.js'
import { checkRequest } from './request-checks.js'

test.each(CONTROL_OPERATIONS.map(({ method, path, query = {} }) => ({ method, path, query })))(
  'the query of $method $path can be checked',
  ({ query }) => {
    const schema = { type: 'object', additionalProperties: false, properties: query }
    expect(() => checkRequest(schema, {}, 'the query', 'see the description')).not.toThrow()
  },
)
