import { parseDocument } from 'yaml'
import { expect, test } from 'vitest'
import { yamlProblem } from './yaml-problem.js'

const problemOf = (text: string) => yamlProblem(text, parseDocument(text).errors[0]!)

test('a text that is not YAML is shown at its place', () => {
  expect(problemOf('a: 1\nb: c: d\n')).toEqual({
    line: 2,
    col: 4,
    message: 'this is not YAML: Nested mappings are not allowed in compact mappings',
    shown: ['b: c: d', '   ^'],
  })
})

test('a line that ends as on Windows, and one without an end, are shown without it', () => {
  expect(problemOf('a: 1\r\nb: c: d\r\n').shown).toEqual(['b: c: d', '   ^'])
  expect(problemOf('{a: 1').shown).toEqual(['{a: 1', '     ^'])
})

test('a text that ends too early is shown by its last words', () => {
  expect(problemOf('- match: {node: a\n\n')).toMatchObject({
    line: 1,
    col: 18,
    shown: ['- match: {node: a', `${' '.repeat(17)}^`],
  })
  expect(problemOf('"')).toMatchObject({ line: 1, col: 2, shown: ['"', ' ^'] })
})

test('of a long line the part with the place is shown', () => {
  expect(problemOf(`b: c: ${'d'.repeat(5000)}`).shown[0]).toBe(`b: c: ${'d'.repeat(94)}`)
  const far = problemOf(`a: [${'x, '.repeat(5000)}}`)
  const [text, mark] = far.shown
  expect(text!.at(mark!.length - 1)).toBe('}')
})

test('a line that may hold a password is not shown', () => {
  expect(problemOf('bmc:\n  password: hush: b\n').shown).toEqual([])
  expect(problemOf('bmc:\n  password:\n    text: hush: b\n').shown).toEqual([])
})
