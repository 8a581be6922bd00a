import { expect, test } from 'vitest'
import { literalPattern, wildcardPattern } from './patterns.js'

test('a literal pattern matches its text and no other', () => {
  const text = 'a.b*c+d?e^f$g{h}(i)|[j]\\k'
  expect(text).toMatch(new RegExp(`^${literalPattern(text)}$`))
  expect('axb*c+d?e^f$g{h}(i)|[j]\\k').not.toMatch(new RegExp(literalPattern(text)))
})

test.each([
  ['*.conf', 'own.conf', true],
  ['*.conf', 'ownxconf', false],
  ['rsa-sha2-*', 'rsa-sha2-512', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['\\*', '\\x', true],
  ['(a', '(a', true],
])('%s matches %s: %s', (pattern, text, matches) => {
  expect(wildcardPattern(pattern).test(text)).toBe(matches)
})
