import { describe, expect, test } from 'vitest'
import { goPattern } from './go-pattern.js'

test.each<[string, string[], string[]]>([
  ['abc', ['abc', 'xabcx'], ['', 'ab', 'abd']],
  ['', ['', 'x'], []],
  ['^team-[a-z]+$', ['team-a'], ['team-', 'team-a1', 'xteam-a', 'team-a\n']],
  ['(?m)^a$', ['b\na\nb'], ['ba']],
  ['(?s)a.b', ['a\nb'], ['ab']],
  ['a.b', ['axb', 'a😀b'], ['a\nb']],
  ['(?i)straße|ÄB', ['STRAßE', 'äb'], ['strasse']],
  ['a(?i:b)c', ['aBc'], ['aBC', 'Abc']],
  ['^(a|bc|)d{2,3}$', ['add', 'bcddd', 'dd'], ['ad', 'bdd', 'adddd']],
  ['^a{0}b{1,}c?$', ['b', 'bbbc'], ['ab', 'cc']],
  [String.raw`\A[[:upper:]\d]+\z`, ['A1', '9'], ['a', 'A-']],
  ['^[^[:space:]/-]+$', ['ab'], ['a b', 'a/b', 'a-b', '']],
  ['^[]a-c^-]+$', [']', 'b', '^', '-'], ['d', '[']],
  [String.raw`^[\w-.]+$`, ['a-b.c'], ['a b']],
  [String.raw`\bfoo\b`, ['a foo b', 'foo'], ['afoo']],
  [String.raw`^\x41\x{1F600}\101\t\.$`, ['A😀A\t.'], ['A😀A\tx']],
  [String.raw`^\pL\P{Greek}\p{Lu}$`, ['äaB'], ['äαB', '1aB', 'äab']],
  [String.raw`^\Qa.b*\E$`, ['a.b*'], ['axbb']],
  ['^(?P<name>x)(?:y)+?z*$', ['xyyz'], ['xz']],
  ['a{,3}', ['a{,3}'], ['aaa']],
  ['(a*)*b', ['b', 'aaab'], ['aaa']],
  ['^*a', ['a', 'ba'], ['b']],
])('%s', (pattern, accepted, refused) => {
  const compiled = goPattern(pattern)
  expect(accepted.filter((text) => !compiled.test(text))).toEqual([])
  expect(refused.filter((text) => compiled.test(text))).toEqual([])
})

describe('what Go refuses, in its words:', () => {
  test.each([
    ['(a', 'missing closing ): `(a`'],
    ['a)', 'unexpected ): `a)`'],
    ['[a', 'missing closing ]: `[a`'],
    ['*a', 'missing argument to repetition operator: `*`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a{2,1}', 'invalid repeat count: `{2,1}`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['(a{100}){100}', 'invalid repeat count: `{100}`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    [String.raw`(a)\1`, String.raw`invalid escape sequence: ${'`'}\1${'`'}`],
    ['[z-a]', 'invalid character class range: `z-a`'],
    [String.raw`\p{Nothing}`, String.raw`invalid character class range: ${'`'}\p{Nothing}${'`'}`],
    ['a\\', 'trailing backslash at end of expression: ``'],
  ])('%s', (pattern, message) => {
    expect(() => goPattern(pattern)).toThrow(new SyntaxError(`error parsing regexp: ${message}`))
  })
})

test.each(['(a+)+$', '^(a|a)*$', '(a|aa)+$', 'a*a*a*a*a*a*a*a*b', '^((a{0,5}){0,5}){0,5}$'])(
  '%s takes no longer for a text that it nearly fits',
  (pattern) => {
    const compiled = goPattern(pattern)
    expect(compiled.test(`${'a'.repeat(5000)}-`)).toBe(false)
  },
)

test('an expression that repeats too much is refused, and takes no memory', () => {
  expect(() => goPattern('(abcdefghij){1000}'.repeat(1000))).toThrow('expression too large')
})
