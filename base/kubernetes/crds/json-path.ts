import { isMembers, type KubeJson } from '../kube-json.js'

/** A step of a path: a member, a place in a list, all of them, or those of which a member has a value. */
type PathStep =
  | { member: string }
  | { index: number }
  | { all: true }
  | { where: readonly PathStep[]; value: string | number | boolean }

const STEP =
  /^(?:\.?\[\?\(\s*@((?:\.[^\s=)]+))\s*==\s*(?:"([^"]*)"|'([^']*)'|([^)\s]+))\s*\)\]|\.?\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]|\.?\[(\*|-?\d+)\]|\.(\*)|\.((?:[^.[\]\\]|\\.)+))/

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, '$1')

/**
 * A path of a definition in kubectl's JSONPath, without braces: `.status.conditions[?(@.type=="Ready")].status`,
 * `.metadata.labels.app\.kubernetes\.io/name`, `.spec.items[0]`. Undefined for what is none.
 */
export function jsonPathOf(text: string): readonly PathStep[] | undefined {
  const steps: PathStep[] = []
  for (let rest = text; rest !== '';) {
    const found = STEP.exec(rest)
    if (!found) return undefined
    const step = stepOf(found)
    if (!step) return undefined
    steps.push(step)
    rest = rest.slice(found[0].length)
  }
  return steps
}

function stepOf(found: RegExpExecArray): PathStep | undefined {
  const [, where, double, single, bare, quoted, otherQuoted, place, star, member] = found
  if (where !== undefined) {
    const path = jsonPathOf(where)
    return path && { where: path, value: double ?? single ?? literal(bare!) }
  }
  const name = quoted ?? otherQuoted ?? member
  if (name !== undefined) return { member: unescaped(name) }
  return place === '*' || star !== undefined ? { all: true } : { index: Number(place) }
}

function literal(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return text !== '' && !Number.isNaN(Number(text)) ? Number(text) : text
}

/** The values at a path. */
export function valuesAt(value: KubeJson | undefined, path: readonly PathStep[]): KubeJson[] {
  let values = value === undefined ? [] : [value]
  for (const step of path) values = values.flatMap((each) => stepInto(each, step))
  return values
}

function stepInto(value: KubeJson, step: PathStep): readonly KubeJson[] {
  const list = Array.isArray(value) ? (value as readonly KubeJson[]) : undefined
  if ('member' in step) return isMembers(value) && Object.hasOwn(value, step.member) ? [value[step.member]!] : []
  if ('index' in step) {
    const found = list?.at(step.index)
    return found === undefined ? [] : [found]
  }
  if ('all' in step) return list ?? (isMembers(value) ? Object.values(value) : [])
  return (list ?? []).filter((each) => valuesAt(each, step.where).includes(step.value))
}
