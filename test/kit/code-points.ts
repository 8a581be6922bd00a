import fc from 'fast-check'

const SURROGATES = 0xd800
const AFTER_SURROGATES = 0xe000
const COUNT = 0x110000 - (AFTER_SURROGATES - SURROGATES)

/**
 * Any character, for `fc.string({ unit })`. As fast-check's own unit `binary`, which takes a second and a hundred MiB for
 * a table of all characters. It can be undone, so that fast-check puts names such as `__proto__` among the strings.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: COUNT - 1 })
  .map((index) => String.fromCodePoint(index < SURROGATES ? index : index + AFTER_SURROGATES - SURROGATES), indexOf)

function indexOf(character: unknown): number {
  const code = typeof character === 'string' ? character.codePointAt(0) : undefined
  if (code === undefined || String.fromCodePoint(code) !== character) throw new Error('not one character')
  if (code < SURROGATES) return code
  if (code < AFTER_SURROGATES) throw new Error('half of a pair of surrogates')
  return code - (AFTER_SURROGATES - SURROGATES)
}
