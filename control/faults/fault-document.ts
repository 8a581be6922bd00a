import { checkNesting, defined, readDuration, UserError } from '../../base/runtime/index.js'
import type { Fault } from './fault.js'
import { checkRequest } from '../operations/request-checks.js'
import { FAULT } from '../operations/control-schemas.js'

/** A fault as documents have it: lengths of time are texts, and `for` is the length of an effect. */
export function faultFrom(document: unknown): Fault {
  const { effect, between, ...rest } = document as Omit<Fault, 'between'> & { between?: [string, string] }
  const { for: length, ...more } = effect as Fault['effect'] & { for?: string | number }
  return {
    ...rest,
    effect: (length === undefined ? more : { ...more, ms: readDuration(length)! }) as Fault['effect'],
    ...defined({ between: between ? ([readDuration(between[0])!, readDuration(between[1])!] as const) : undefined }),
  }
}

/** Says where a member of a document stands in its text: `, in line 7: times: often`. */
type DescribeLine = (path: readonly (string | number)[]) => string

/**
 * Reads faults from a document: one, a list, or a list under `faults`.
 *
 * @param name of the document, for errors
 * @param lineOf ends the sentence of an error
 * @throws UserError `bad-request` (usage)
 */
export function readFaults(document: unknown, name: string, lineOf: DescribeLine = () => ''): Fault[] {
  const { path, list } = listIn(document, lineOf)
  return list.map((each, index) => {
    const place = list.length > 1 ? `${name}, fault ${index + 1},` : name
    checkNesting(each, place)
    const ownPath = path === undefined ? [] : [...path, index]
    checkRequest(FAULT, each, place, {
      remedy: 'docs/control.md shows each kind of fault',
      lineOf: (inner) => lineOf([...ownPath, ...inner]),
    })
    return faultFrom(each)
  })
}

/** The faults of a document, and the path of their list where it has one. */
function listIn(document: unknown, lineOf: DescribeLine): { path?: readonly string[]; list: readonly unknown[] } {
  if (Array.isArray(document)) return { path: [], list: document }
  if (typeof document === 'object' && document !== null && 'faults' in document && Array.isArray(document.faults)) {
    const [other] = Object.keys(document).filter((key) => key !== 'faults')
    if (other === undefined) return { path: ['faults'], list: document.faults }
    throw new UserError('bad-request', `${other} must not stand beside faults${lineOf([other])}`, {
      kind: 'usage',
      remedy: 'leave it out',
    })
  }
  return { list: [document] }
}
