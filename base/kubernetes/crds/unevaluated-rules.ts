import { isMembers, type JsonMembers, type KubeJson } from '../kube-json.js'

/** A sentence about the rules in CEL of a definition, which nothing here evaluates; undefined for one without. */
export function unevaluatedRules({ spec }: JsonMembers): string | undefined {
  const count = rulesIn(spec ?? null)
  return count === 0
    ? undefined
    : `x-kubernetes-validations: this API evaluates no rules in CEL; the definition has ${count}`
}

function rulesIn(value: KubeJson): number {
  if (Array.isArray(value)) return (value as readonly KubeJson[]).reduce<number>((sum, each) => sum + rulesIn(each), 0)
  if (!isMembers(value)) return 0
  const own = value['x-kubernetes-validations']
  const below = Object.values(value).reduce<number>((sum, each) => sum + rulesIn(each), 0)
  return below + (Array.isArray(own) ? own.length : 0)
}
