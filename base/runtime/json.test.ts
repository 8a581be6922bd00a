import { describe, expect, test } from 'vitest'
import { parse, parseDocument } from 'yaml'
import { checkNesting, isNestedDeeper, jsonText, pointerParts, readNested } from './json.js'
import { UserError } from './error.js'

/** `[[[...]]]` */
function nested(levels: number): unknown {
  let value: unknown = null
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

test.each([
  ['a word', 'x', false],
  ['500 levels', nested(500), false],
  ['501 levels', nested(501), true],
  ['a million levels', nested(1_000_000), true],
  ['many members', Array.from({ length: 100_000 }, () => ({})), false],
])('%s', (_, value, deeper) => {
  expect(isNestedDeeper(value)).toBe(deeper)
})

test('a value that refers to itself is refused, a shared value is not', () => {
  const loop: unknown[] = []
  loop.push(loop)
  expect(() => checkNesting(loop, 'the list')).toThrow('the list is nested more than 500 levels deep')
  let shared: unknown = {}
  for (let level = 0; level < 60; level++) shared = [shared, shared]
  expect(isNestedDeeper(shared)).toBe(false)
  expect(() => jsonText(nested(9000), 'the body')).toThrow(UserError)
})

describe('a parser that recurses', () => {
  const lists = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const indented = (levels: number) => Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:`).join('\n')
  test.each([
    ['brackets', lists(100_000)],
    ['brackets that do not close', '{"a":'.repeat(50_000)],
    ['dashes', `${'- '.repeat(20_000)}x`],
    ['indentation', indented(3000)],
  ])('%s by the thousand are a sentence', (_, text) => {
    expect(() => readNested(text, 'host.yaml', parse)).toThrow('host.yaml is nested more than 500 levels deep')
  })

  test('aliases that multiply are a sentence', () => {
    const bomb = [
      'a: &a [x, x]',
      ...[...'bcdefghij'].map((c, i) => `${c}: &${c} [*${'abcdefghi'[i]}, *${'abcdefghi'[i]}]`),
    ]
    expect(() => readNested(bomb.join('\n'), 'host.yaml', parse)).toThrow(
      'host.yaml repeats itself by too many aliases',
    )
  })

  test('brackets in quotes and in scripts are no levels', () => {
    expect(readNested(`a: "${'['.repeat(5000)}"`, 'x', parse)).toEqual({ a: '['.repeat(5000) })
    const script = `a: |\n${'  if [ -e x ]; then echo {}; fi\n'.repeat(3000)}`
    expect(readNested(script, 'x', parse)).toHaveProperty('a')
  })

  test('an overflow that is kept among the errors of a document is one too', () => {
    expect(() => readNested(indented(3000), 'host.yaml', parseDocument)).toThrow('nested more than 500 levels deep')
  })

  test('what else it throws stays', () => {
    expect(() => readNested('a: [', 'x', parse)).toThrow(/Flow sequence/)
  })
})

test.each([
  ['', []],
  ['/a/0/b', ['a', '0', 'b']],
  ['/a~1b/c~0d/~01', ['a/b', 'c~d', '~1']],
  ['/', ['']],
])('the pointer "%s" has the parts %j', (pointer, parts) => {
  expect(pointerParts(pointer)).toEqual(parts)
})
