import { isDeepStrictEqual } from 'node:util'
import type { Answer } from './play.js'

/** One place where the two parted. */
export interface Difference {
  readonly script: string
  readonly call: string
  /** `status`, `header NAME`, `states`, or the path of a member of the body or of what rests. */
  readonly at: string
  readonly real: unknown
  readonly ours: unknown
}

export interface Comparison {
  readonly differences: readonly Difference[]
  /** Calls after which the two were in different states, and how many of the script's were then not compared. */
  readonly partings: readonly { readonly call: string; readonly left: number }[]
}

/** Where our answers to a script part from the real Ironic's. */
export function compare(script: string, real: readonly Answer[], ours: readonly Answer[]): Comparison {
  const differences: Difference[] = []
  const partings: { call: string; left: number }[] = []
  for (let index = 0; index < real.length;) {
    const theirs = real[index]!
    const own = ours[index]!
    // The first few say it: what is missing whole differs in every member.
    differences.push(...differencesOf(script, theirs, own).slice(0, 6))
    index++
    if (!parted(theirs, own)) continue
    let next = index
    while (next < real.length && (theirs.apart === undefined || real[next]!.apart === theirs.apart)) next++
    if (theirs.apart === undefined && next > index) partings.push({ call: theirs.label, left: next - index })
    index = next
  }
  return { differences, partings }
}

/** True if one did what the other refused, or they rest in different states. */
function parted(real: Answer, ours: Answer): boolean {
  const [a, b] = [real, ours].map(({ rest }) => rest as Record<string, unknown> | undefined)
  return (
    (real.writes && real.status < 400 !== ours.status < 400) ||
    ['provision_state', 'state', 'power_state'].some((name) => a?.[name] !== b?.[name])
  )
}

function differencesOf(script: string, theirs: Answer, own: Answer): Difference[] {
  const found: Difference[] = []
  const differs = (at: string, real: unknown, ours: unknown) => {
    // Whether Ironic already let go of a node when it answers is luck.
    if (/\.reservation$/.test(at) && [real, ours].every((value) => value === null || value === '{conductor}')) return
    found.push({ script, call: theirs.label, at, real, ours })
  }
  if (theirs.status !== own.status) differs('status', brief(theirs), brief(own))
  else {
    for (const [name, value] of Object.entries(theirs.headers))
      if (value !== own.headers[name]) differs(`header ${name}`, value, own.headers[name])
    walk('', theirs.body, own.body, differs)
  }
  if (theirs.states && own.states && !sameOrder(theirs.states, own.states)) differs('states', theirs.states, own.states)
  if (theirs.states) walk('at rest ', theirs.rest, own.rest, differs)
  return found
}

const brief = ({ status, body }: Answer): unknown => {
  const error = (body as { error_message?: { faultstring?: string; description?: string } } | undefined)?.error_message
  return [status, error?.faultstring ?? error?.description ?? '']
}

/** True if two lists of observed states, each of which may lack short states, can come from the same transitions. */
function sameOrder(a: readonly string[], b: readonly string[]): boolean {
  const common = new Set(a.filter((state) => b.includes(state)))
  const [short, long] = [a, b].map((path) => path.filter((state) => common.has(state)))
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
