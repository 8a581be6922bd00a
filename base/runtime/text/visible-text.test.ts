import { expect, test } from 'vitest'
import { visibleJson, visibleLine, visibleText } from '../index.js'

test.each([
  ['colours', '\x1b[31mred', '\\x1b[31mred'],
  ['a title', '\x1b]0;owned\x07', '\\x1b]0;owned\\x07'],
  ['C1 controls', '\x9b2J', '\\x9b2J'],
  ['DEL', 'a\x7fb', 'a\\x7fb'],
  ['a turned direction', 'a\u202eb\u2066c\u061cd', 'a\\u202eb\\u2066c\\u061cd'],
  ['zero width', 'a\u200bb\ufeffc', 'a\\u200bb\\ufeffc'],
  ['tags', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ['separators of lines', 'a\u2028b\u2029c\u0085d', 'a\\u2028b\\u2029c\\x85d'],
  ['half a character', 'a\ud800b', 'a\\ud800b'],
  ['letters of all languages', 'ünï日本 😀', 'ünï日本 😀'],
])('%s', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown)
  expect(visibleLine(text)).toBe(shown)
})

test('lines stay in a text; a line break within a line is seen, and forges none', () => {
  expect(visibleText('a\n\tb\r\nc\rd')).toBe('a\n\tb\nc\\rd')
  expect(visibleLine('a\r\n\tb')).toBe('a\\r\\n\\tb')
})

test('JSON for a terminal means the same, and has nothing that a terminal obeys', () => {
  for (const first of [0, 0xd000, 0xe000, 0xf000, 0x1f000, 0xe0000]) {
    const text = String.fromCodePoint(...Array.from({ length: 0x1000 }, (_, at) => first + at))
    const json = visibleJson(JSON.stringify({ text }, null, 2))
    expect(JSON.parse(json)).toEqual({ text })
    expect(visibleText(json)).toBe(json)
  }
})
