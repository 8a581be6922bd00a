import { expect, test } from 'vitest'
import { LineCounter, parseDocument } from 'yaml'
import { yamlPlace } from './yaml-place.js'

const TEXT = `hosts:
  a:
    disk: sda
    1: one
  list:
    - x
    - y: z
`

test.each([
  [['hosts', 'a'], 'key', { line: 2, col: 3 }],
  [['hosts', 'a'], 'value', { line: 3, col: 5 }],
  [['hosts', 'a', 'disk'], 'key', { line: 3, col: 5 }],
  [['hosts', 'a', 'disk'], 'value', { line: 3, col: 11 }],
  [['hosts', 'a', '1'], 'key', { line: 4, col: 5 }],
  [['hosts', 'list', 0], 'key', { line: 6, col: 7 }],
  [['hosts', 'list', '1', 'y'], 'key', { line: 7, col: 7 }],
  [['hosts', 'a', 'serial'], 'key', { line: 2, col: 3 }],
  [['hosts', 'a', 'disk', 'size'], 'key', { line: 3, col: 5 }],
  [[], 'key', { line: 1, col: 1 }],
] as const)('%j, %s, is at %j', (path, of, place) => {
  const lines = new LineCounter()
  const document = parseDocument(TEXT, { lineCounter: lines })
  expect(yamlPlace(document, path, lines, of)).toEqual(place)
})

test('nothing is anywhere in an empty document', () => {
  const lines = new LineCounter()
  expect(yamlPlace(parseDocument('', { lineCounter: lines }), ['a'], lines)).toBeUndefined()
})
