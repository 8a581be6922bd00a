import type { PatternPart } from './linear-match.js'

/** Characters by their number in Unicode. */
export type CharacterSet = (point: number) => boolean

/** A refusal in Go's words. */
export const refusedPattern = (why: string, part: string): SyntaxError =>
  new SyntaxError(`error parsing regexp: ${why}: \`${part}\``)

/** Named classes of Go, which are those of ASCII. */
const ASCII_CLASSES: Readonly<Record<string, RegExp>> = {
  d: /[0-9]/,
  s: /[\t\n\f\r ]/,
  w: /[0-9A-Za-z_]/,
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  ascii: /[\0-\x7f]/,
  blank: /[\t ]/,
  cntrl: /[\0-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t\n\v\f\r ]/,
  upper: /[A-Z]/,
  word: /[0-9A-Za-z_]/,
  xdigit: /[0-9A-Fa-f]/,
}

/**
 * The class of a name: `digit`, `w`, or `p{L}` and `p{Greek}` of Unicode.
 *
 * @throws SyntaxError for a name that Go does not have
 */
export function namedClass(name: string, written = name): CharacterSet {
  const expression = Object.hasOwn(ASCII_CLASSES, name) ? ASCII_CLASSES[name] : unicodeClass(name)
  if (!expression) throw refusedPattern('invalid character class range', written)
  return (point) => expression.test(String.fromCodePoint(point))
}

function unicodeClass(name: string): RegExp | undefined {
  const [, category] = /^p\{(\w+)\}$/.exec(name) ?? []
  if (category === undefined) return undefined
  for (const property of [`gc=${category}`, `sc=${category}`])
    try {
      return new RegExp(`\\p{${property}}`, 'u')
    } catch {
      // Neither a category nor a script says so by itself: the next one is tried.
    }
  return undefined
}

/** A character of one of some sets. */
export function classPart(
  sets: readonly CharacterSet[],
  { isNegated, ignoresCase }: { isNegated: boolean; ignoresCase: boolean },
): PatternPart {
  const isIn = (point: number): boolean => sets.some((set) => set(point))
  const isFolded = (point: number): boolean => isIn(point) || (ignoresCase && otherCases(point).some(isIn))
  return { kind: 'one', accepts: (point) => isFolded(point) !== isNegated }
}

function otherCases(point: number): number[] {
  const character = String.fromCodePoint(point)
  return [character.toLowerCase(), character.toUpperCase()]
    .filter((each) => Array.from(each).length === 1)
    .map((each) => each.codePointAt(0)!)
}
