import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { schemaProblem } from './schema-problem.js'

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', pattern: '^[a-z]+$', description: 'small letters' },
    code: { type: 'string', pattern: '^x' },
    kind: { enum: ['delay', 'cut'] },
    count: { type: ['integer', 'null'], minimum: 1 },
    'a/b': { type: 'object', additionalProperties: { type: 'boolean' } },
  },
}

test.each([
  [{}, 'name is missing', []],
  [[], 'the file is a list, and not a mapping', []],
  [{ name: 'A' }, 'name is "A", and not small letters', ['name']],
  [{ name: 'a', code: 'y' }, 'code is "y", which has another form', ['code']],
  [{ name: 'a', nam: 1 }, 'there is no key nam; did you mean name?', ['nam']],
  [{ name: 'a', kind: 'delai' }, 'kind is "delai"; did you mean delay?', ['kind']],
  [{ name: 'a', count: 'secret' }, 'count is a text, and not a whole number or empty', ['count']],
  [{ name: 'a', count: 0 }, 'count must be >= 1', ['count']],
  [{ name: 'a', 'a/b': { 'c/d': 1 } }, 'a/b.c/d is a number, and not true or false', ['a/b', 'c/d']],
])('%j: %s', (value, message, path) => {
  const accepts = new Ajv({ allErrors: true, strict: false, verbose: true }).compile(SCHEMA)
  expect(accepts(value)).toBe(false)
  expect(schemaProblem(accepts.errors!, { document: 'the file', key: 'key ' })).toMatchObject({ message, path })
})
