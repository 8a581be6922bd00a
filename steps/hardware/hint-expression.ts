/** Operators of oslo's comparison expressions, which root device hints are written in. */
export const OPERATORS = [
  '==',
  '!=',
  '<=',
  '>=',
  '<',
  '>',
  '=',
  's==',
  's!=',
  's<=',
  's>=',
  's<',
  's>',
  '<in>',
  '<or>',
  '<all-in>',
  '<range-in>',
] as const
export type Operator = (typeof OPERATORS)[number]

export interface Expression {
  operator: Operator
  values: string[]
  /** Of a range: whether its ends belong to it. */
  closed?: { from: boolean; to: boolean }
}

/** Reads `>= 60`, `<or> a <or> b`, `<range-in> [ 10 20 )`; text without an operator gets the one given. */
export function parseExpression(text: string, ifBare: Operator): Expression {
  // The longest operator first: `<in>` is not `<` followed by `in>`.
  const operator = [...OPERATORS].sort((a, b) => b.length - a.length).find((o) => startsWith(text, o))
  if (operator === undefined) return { operator: ifBare, values: [text] }
  const rest = text.slice(operator.length).trim()
  switch (operator) {
    case '<or>':
      return { operator, values: rest.split('<or>').map((value) => value.trim()) }
    case '<all-in>':
      return { operator, values: rest.split(' ').filter((value) => value !== '') }
    case '<range-in>': {
      const range = /^([[(])\s*(\S+)\s+(\S+?)\s*([\])])$/.exec(rest)
      if (!range) return { operator, values: [] }
      const [, open, from, to, close] = range
      return { operator, values: [from!, to!], closed: { from: open === '[', to: close === ']' } }
    }
    default:
      return { operator, values: [rest] }
  }
}

/** `s==` and the like are words of their own; `<5` and `>=5` may be written without a blank. */
const startsWith = (text: string, operator: Operator) =>
  text.startsWith(operator) && (!operator.startsWith('s') || text[operator.length] === ' ')

/** Whether a value satisfies an expression. `=` means "at least", which is oslo's. Not-a-number compares false. */
export function compare(actual: string, { operator, values, closed }: Expression): boolean {
  const [value = ''] = values
  const [a, b] = [Number(actual), Number(value)]
  switch (operator) {
    case '=':
    case '>=':
      return a >= b
    case '==':
      return a === b
    case '!=':
      return a !== b
    case '<=':
      return a <= b
    case '<':
      return a < b
    case '>':
      return a > b
    case 's==':
      return actual === value
    case 's!=':
      return actual !== value
    case 's<=':
      return actual <= value
    case 's>=':
      return actual >= value
    case 's<':
      return actual < value
    case 's>':
      return actual > value
    case '<in>':
      return actual.includes(value)
    case '<all-in>':
      return values.length > 0 && values.every((part) => actual.includes(part))
    case '<or>':
      return values.some((part) => part === actual || (part !== '' && Number(part) === a))
    case '<range-in>': {
      const [from, to] = [Number(values[0]), Number(values[1])]
      return (closed?.from ? a >= from : a > from) && (closed?.to ? a <= to : a < to)
    }
  }
}
