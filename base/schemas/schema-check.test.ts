import { expect, test } from 'vitest'
import { SchemaCompiler } from './schema-check.js'

test('two patterns of an engine of its own are told apart', () => {
  const compiler = new SchemaCompiler({ pattern: (source) => ({ test: (text) => text.startsWith(source) }) })
  const check = compiler.check<object>({
    type: 'object',
    properties: { one: { type: 'string', pattern: 'a' }, other: { type: 'string', pattern: 'b' } },
  })
  expect(check.accepts({ one: 'a', other: 'b' })).toBe(true)
  expect(check.accepts({ one: 'b' })).toBe(false)
  expect(check.accepts({ other: 'a' })).toBe(false)
})
