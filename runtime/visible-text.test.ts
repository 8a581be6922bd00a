import { expect, test } from 'vitest'
import { visibleLine, visibleText } from './index.js'

test.each([
  ['colours', '\x1b[31mred', '\ufffd[31mred'],
  ['a title', '\x1b]0;owned\x07', '\ufffd]0;owned\ufffd'],
  ['C1 controls', '\x9b2J', '\ufffd2J'],
  ['a turned direction', 'a\u202eb', 'a\ufffdb'],
  ['half a character', 'a\ud800b', 'a\ufffdb'],
  ['letters of all languages', 'ünï日本 😀', 'ünï日本 😀'],
])('%s', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown)
})

test('lines stay in a text, and become one in a line', () => {
  expect(visibleText('a\n\tb')).toBe('a\n\tb')
  expect(visibleLine('a\r\n\tb')).toBe('a b')
})
