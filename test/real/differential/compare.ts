import { isDeepStrictEqual } from 'node:util'
import type { Answer } from './play.js'

/** One place where the two parted. */
export interface Difference {
  readonly script: string
  readonly call: string
  /** `status`, `header NAME`, `way`, or the path of a member of the body or of the resting node. */
  readonly at: string
  readonly real: unknown
  readonly ours: unknown
}

/** Where our answers to a script part from the real Ironic's. */
export function compare(script: string, real: readonly Answer[], ours: readonly Answer[]): Difference[] {
  return real.flatMap((theirs, index) => {
    const own = ours[index]!
    const found: Difference[] = []
    const differs = (at: string, a: unknown, b: unknown) =>
      found.push({ script, call: theirs.label, at, real: a, ours: b })
    // Where Ironic crashes ours does not (docs/fidelity.md), and there is nothing to compare.
    if (theirs.status >= 500 && own.status < 500) return []
    if (theirs.status !== own.status) differs('status', brief(theirs), brief(own))
    else {
      for (const [name, value] of Object.entries(theirs.headers))
        if (value !== own.headers[name]) differs(`header ${name}`, value, own.headers[name])
      walk('', theirs.body, own.body, differs)
    }
    if (theirs.way && own.way && !oneWay(theirs.way, own.way)) differs('way', theirs.way, own.way)
    if (theirs.way) walk('at rest ', theirs.rest, own.rest, differs)
    // The first few say it: what is missing whole differs in every member.
    return found.slice(0, 6)
  })
}

const brief = ({ status, body }: Answer): unknown => {
  const error = (body as { error_message?: { faultstring?: string; description?: string } } | undefined)?.error_message
  return [status, error?.faultstring ?? error?.description ?? '']
}

/** Whether two looks, which may both have missed short states, can have been at the same way. */
function oneWay(a: readonly string[], b: readonly string[]): boolean {
  const common = new Set(a.filter((state) => b.includes(state)))
  const [short, long] = [a, b].map((way) => way.filter((state) => common.has(state)))
  return isDeepStrictEqual(short, long) && a.at(-1) === b.at(-1)
}

function walk(at: string, real: unknown, ours: unknown, differs: (at: string, a: unknown, b: unknown) => void): void {
  if (isDeepStrictEqual(real, ours)) return
  if (isRecord(real) && isRecord(ours)) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(ours)]))
      walk(`${at}.${key}`, real[key], ours[key], differs)
  } else if (Array.isArray(real) && Array.isArray(ours) && real.length === ours.length)
    real.forEach((item, index) => walk(`${at}[${index}]`, item, ours[index], differs))
  else differs(at, real, ours)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
