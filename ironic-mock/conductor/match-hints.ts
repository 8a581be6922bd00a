import { textOf } from '../../wire/index.js'
import type { JsonObject } from '../../wire/index.js'

const GIB = 2 ** 30
const OPERATORS = [
  '<all-in>',
  '<in>',
  '<or>',
  's==',
  's!=',
  's>=',
  's<=',
  's>',
  's<',
  '==',
  '!=',
  '>=',
  '<=',
  '=',
  '>',
  '<',
]

/** Whether a disk of an inventory is meant by root device hints, with upstream's operators. */
export function matchHints(disk: JsonObject, hints: JsonObject): boolean {
  return Object.entries(hints).every(([name, wanted]) => matches(name, disk[name], wanted))
}

function matches(name: string, value: unknown, wanted: unknown): boolean {
  if (value === undefined || value === null) return false
  if (name === 'rotational') return flag(value) === flag(wanted)
  if (name === 'size') {
    const gib = Math.floor(Number(value) / GIB)
    return compare(textOf(gib), typeof wanted === 'number' ? `== ${wanted}` : textOf(wanted), '==')
  }
  return compare(textOf(value).toLowerCase(), textOf(wanted).toLowerCase(), 's==')
}

const flag = (value: unknown): boolean => ['true', '1', 'yes', 'on', 't', 'y'].includes(textOf(value).toLowerCase())

function compare(value: string, expression: string, otherwise: string): boolean {
  const text = expression.trim()
  const operator = OPERATORS.find((known) => text.startsWith(`${known} `)) ?? ''
  const rest = text.slice(operator.length).trim()
  switch (operator || otherwise) {
    case '<in>':
      return value.includes(rest)
    case '<all-in>':
      return rest.split('<all-in>').every((part) => value.includes(part.trim()))
    case '<or>':
      return rest.split('<or>').some((part) => value === part.trim())
    case 's==':
      return value === rest
    case 's!=':
      return value !== rest
    case 's>=':
      return value >= rest
    case 's<=':
      return value <= rest
    case 's>':
      return value > rest
    case 's<':
      return value < rest
    case '==':
      return Number(value) === Number(rest)
    case '!=':
      return Number(value) !== Number(rest)
    // Upstream's single sign means at least.
    case '=':
    case '>=':
      return Number(value) >= Number(rest)
    case '<=':
      return Number(value) <= Number(rest)
    case '>':
      return Number(value) > Number(rest)
    case '<':
      return Number(value) < Number(rest)
    default:
      return false
  }
}
