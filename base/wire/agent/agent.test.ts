import { describe, expect, test } from 'vitest'
import { AgentError, lowerVersion, parseLookupAnswer, pythonRepr } from './index.js'

test.each([
  { value: null, repr: 'None' },
  { value: true, repr: 'True' },
  { value: { serial: 'nosuch', size: 20 }, repr: "{'serial': 'nosuch', 'size': 20}" },
  { value: [1, 'a', null], repr: "[1, 'a', None]" },
  { value: "it's", repr: '"it\'s"' },
  { value: `both ' and "`, repr: `'both \\' and "'` },
  { value: 'a\\b\nc', repr: "'a\\\\b\\nc'" },
])('Python shows $value as $repr', ({ value, repr }) => {
  expect(pythonRepr(value)).toBe(repr)
})

test.each([
  ['1.62', '1.115', '1.62'],
  ['1.115', '1.62', '1.62'],
  ['1.9', '1.10', '1.9'],
  ['2.0', '1.99', '1.99'],
])('of %s and %s the lower is %s', (a, b, lower) => {
  expect(lowerVersion(a, b)).toBe(lower)
})

describe('an error of the agent', () => {
  test('carries IPA’s code and sentence', () => {
    const error = new AgentError('DeploymentError', 'no luck')
    expect(error.message).toBe('Deploy step failed: no luck')
    expect(error.toWire()).toEqual({
      type: 'DeploymentError',
      code: 500,
      message: 'Deploy step failed',
      details: 'no luck',
    })
  })

  test('of a type that is not in the catalogue counts as a failed command', () => {
    expect(new AgentError('toString', 'x').toWire()).toMatchObject({ code: 500, message: 'Command execution failed' })
  })
})

test('a lookup answer without a node says what is missing', () => {
  expect(() => parseLookupAnswer({ config: { heartbeat_timeout: 300 } })).toThrow("must have required property 'node'")
})
