import { HintError, pythonFloat, pythonLiteral } from './python-values.js'

/** In the order in which oslo.utils tries them, so that `=` is not found in `==`. */
const UNARY = ['==', '=', '!=', '<in>', '>=', '<=', '>', '<', 's==', 's!=', 's<=', 's<', 's>=', 's>'] as const
const HINT_OPERATORS = [...UNARY, '<all-in>', '<or>', '<range-in>'] as const
type HintOperator = (typeof HINT_OPERATORS)[number]

/** A specification of oslo.utils's specs_matcher: an operator and its operands, or one word. What follows is not read. */
export type Specification =
  | { readonly operator: HintOperator; readonly operands: readonly string[] }
  | { readonly operator: undefined; readonly operands: readonly [string] }

/**
 * Reads `>= 60`, `<or> a <or> b`, `<range-in> [ 10 20 )` or a plain word, blank or no blank after the operator
 * (oslo.utils 10.2.0 specs_matcher.py make_grammar).
 *
 * @throws HintError for an operator without an operand
 */
export function readSpecification(text: string): Specification {
  const read = disjunction(text) ?? allIn(text) ?? rangeIn(text) ?? unary(text)
  if (read) return read
  const word = atom(text)
  if (word === undefined) throw new HintError('ParseException', `an operator has nothing to compare with: ${text}`)
  return { operator: undefined, operands: [word.text] }
}

interface Token {
  readonly text: string
  readonly rest: string
}

const blanksBefore = /^[ \n\t\r]+/

function literal(text: string, wanted: string): string | undefined {
  const from = text.replace(blanksBefore, '')
  return from.startsWith(wanted) ? from.slice(wanted.length) : undefined
}

function atom(text: string): Token | undefined {
  const from = text.replace(blanksBefore, '')
  const word = /^\S+/.exec(from)?.[0]
  if (word === undefined || HINT_OPERATORS.some((keyword) => from.startsWith(keyword))) return undefined
  return { text: word, rest: from.slice(word.length) }
}

/** Parses atoms, at most `most`. */
function atoms(text: string, most: number): string[] {
  const words: string[] = []
  let rest = text
  for (let next = atom(rest); next && words.length < most; next = atom(rest)) {
    words.push(next.text)
    rest = next.rest
  }
  return words
}

function disjunction(text: string): Specification | undefined {
  const operands: string[] = []
  let rest = text
  for (;;) {
    const after = literal(rest, '<or>')
    const next = after === undefined ? undefined : atom(after)
    if (!next) return operands.length > 0 ? { operator: '<or>', operands } : undefined
    operands.push(next.text)
    rest = next.rest
  }
}

function allIn(text: string): Specification | undefined {
  const after = literal(text, '<all-in>')
  const operands = after === undefined ? [] : atoms(after, Infinity)
  return operands.length > 0 ? { operator: '<all-in>', operands } : undefined
}

function rangeIn(text: string): Specification | undefined {
  const after = literal(text, '<range-in>')
  const operands = after === undefined ? [] : atoms(after, 4)
  return operands.length === 4 ? { operator: '<range-in>', operands } : undefined
}

function unary(text: string): Specification | undefined {
  const operator = UNARY.find((known) => literal(text, known) !== undefined)
  const operand = operator && atom(literal(text, operator)!)
  return operand && { operator, operands: [operand.text] }
}

/**
 * True if a value satisfies a specification; `=` means "at least" (oslo.utils 10.2.0 specs_matcher.py match).
 *
 * @throws HintError when the two cannot be compared
 */
export function satisfies(value: string | number, text: string): boolean {
  const { operator, operands } = readSpecification(text)
  const [operand] = operands
  switch (operator) {
    case undefined:
      return value === operand
    case '=':
    case '>=':
      return pythonFloat(value) >= pythonFloat(operand!)
    case '==':
      return pythonFloat(value) === pythonFloat(operand!)
    case '!=':
      return pythonFloat(value) !== pythonFloat(operand!)
    case '<=':
      return pythonFloat(value) <= pythonFloat(operand!)
    case '<':
      return pythonFloat(value) < pythonFloat(operand!)
    case '>':
      return pythonFloat(value) > pythonFloat(operand!)
    case 's==':
      return value === operand
    case 's!=':
      return value !== operand
    case 's<=':
      return ordered(value, operator) <= operand!
    case 's<':
      return ordered(value, operator) < operand!
    case 's>=':
      return ordered(value, operator) >= operand!
    case 's>':
      return ordered(value, operator) > operand!
    case '<in>':
      if (typeof value === 'number') throw new HintError('TypeError', "argument of type 'float' is not iterable")
      return value.includes(operand!)
    case '<or>':
      return operands.some((each) => each === value)
    case '<all-in>':
      pythonLiteral(value)
      throw new HintError('TypeError', "<all-in> must compare with a list literal string, EG \"['aes', 'mmx']\"")
    case '<range-in>':
      return inRange(pythonLiteral(value), operands)
  }
}

function ordered(value: string | number, operator: string): string {
  if (typeof value === 'string') return value
  throw new HintError('TypeError', `'${operator.slice(1)}' not supported between instances of 'float' and 'str'`)
}

function inRange(value: number, [open, from, to, close]: readonly string[]): boolean {
  const least = pythonFloat(from!)
  const most = pythonFloat(to!)
  if (least > most)
    throw new HintError(
      'TypeError',
      '<range-in> operator\'s first argument has to be smaller or equal to the second argument EG"range_in  ( 10 20 ] "',
    )
  if (open !== '[' && open !== '(')
    throw new HintError('TypeError', 'The first element should be an opening bracket ("(" or "[")')
  if (close !== ']' && close !== ')')
    throw new HintError('TypeError', 'The last element should be a closing bracket (")" or "]")')
  return (open === '[' ? value >= least : value > least) && (close === ']' ? value <= most : value < most)
}
