import { expect, test } from 'vitest'
import { alignColumns, wrapWords } from './text-layout.js'

test('columns are as wide as their widest cell, and the last one is not padded', () => {
  const rows = [
    ['NAME', 'SIZE', 'TYPE'],
    ['sda', '20G', 'disk'],
    ['sda1-part', '1G', 'p'],
  ]
  expect(alignColumns(rows, { right: new Set([1]) })).toBe(
    'NAME      SIZE TYPE\nsda        20G disk\nsda1-part   1G p\n',
  )
  expect(alignColumns(rows.slice(0, 2), { gap: 2 })).toBe('NAME  SIZE  TYPE\nsda   20G   disk\n')
  expect(alignColumns([])).toBe('')
})

test.each([
  ['one two three', 7, ['one two', 'three']],
  ['one two three', 6, ['one', 'two', 'three']],
  ['incomprehensible two', 7, ['incomprehensible', 'two']],
  ['', 7, ['']],
])('"%s" in %i characters', (text, width, lines) => {
  expect(wrapWords(text.split(' '), width)).toEqual(lines)
})
