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

/**
 * Reads faults from a document: one, a list, or a list under `faults`.
 *
 * @param name of the document, for errors
 * @throws UserError `bad-request` (usage)
 */
export function readFaults(document: unknown, name: string): Fault[] {
  return listIn(document).map((each, index, all) => {
    const place = all.length > 1 ? `${name}, fault ${index + 1},` : name
    checkNesting(each, place)
    checkRequest(FAULT, each, place, 'docs/control.md shows each kind of fault')
    return faultFrom(each)
  })
}

function listIn(document: unknown): unknown[] {
  if (Array.isArray(document)) return document
  if (typeof document === 'object' && document !== null && 'faults' in document && Array.isArray(document.faults)) {
    const others = Object.keys(document).filter((key) => key !== 'faults')
    if (others.length === 0) return document.faults
    throw new UserError('bad-request', `${others[0]} must not stand beside faults`, {
      kind: 'usage',
      remedy: 'leave it out',
    })
  }
  return [document]
}
