import { expect, test } from 'vitest'
import { columns, wrapped } from './text-layout.js'

test('columns are as wide as their widest cell, and the last one is not padded', () => {
  const rows = [
    ['NAME', 'SIZE', 'TYPE'],
    ['sda', '20G', 'disk'],
    ['sda1-part', '1G', 'p'],
  ]
  expect(columns(rows, { right: new Set([1]) })).toBe('NAME      SIZE TYPE\nsda        20G disk\nsda1-part   1G p\n')
  expect(columns(rows.slice(0, 2), { gap: 2 })).toBe('NAME  SIZE  TYPE\nsda   20G   disk\n')
  expect(columns([])).toBe('')
})

test.each([
  ['one two three', 7, ['one two', 'three']],
  ['one two three', 6, ['one', 'two', 'three']],
  ['incomprehensible two', 7, ['incomprehensible', 'two']],
  ['', 7, ['']],
])('"%s" in %i characters', (text, width, lines) => {
  expect(wrapped(text.split(' '), width)).toEqual(lines)
})
