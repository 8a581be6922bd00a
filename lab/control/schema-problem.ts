import { closest, distance } from 'fastest-levenshtein'
import type { ErrorObject } from 'ajv'

/** The first thing that is wrong with a document, in words: `effect.kind is "agent-silnt"; did you mean agent-silent?` */
export function schemaProblem(errors: readonly ErrorObject[]): string {
  // The alternative that the document comes nearest to is meant: its errors lie deepest.
  const own = errors.filter(({ keyword }) => keyword !== 'oneOf' && keyword !== 'const')
  const depth = ({ instancePath }: ErrorObject) => instancePath.split('/').length
  const wrongKind = own.find(({ keyword }) => keyword === 'enum')
  const error =
    wrongKind ??
    own.reduce<ErrorObject | undefined>((a, b) => (a && depth(a) >= depth(b) ? a : b), undefined) ??
    errors[0]!
  const path = error.instancePath.split('/').slice(1).join('.')
  const params = error.params as Record<string, unknown>
  const at = (name: string): string => [path, name].filter((part) => part !== '').join('.')
  switch (error.keyword) {
    case 'required':
      return `${at(String(params['missingProperty']))} is missing`
    case 'additionalProperties': {
      const name = String(params['additionalProperty'])
      const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {})
      return `there is no ${at(name)}${meant(name, known)}`
    }
    case 'enum':
      return `${path || 'it'} is ${JSON.stringify(error.data)}${meant(String(error.data), (params['allowedValues'] as unknown[]).map(String))}`
    case 'pattern':
      return `${path || 'it'} is ${JSON.stringify(error.data)}${described(error)}`
    default:
      return `${path || 'it'} ${error.message ?? 'is wrong'}`
  }
}

function meant(word: string, known: readonly string[]): string {
  if (known.length === 0) return ''
  const near = closest(word, [...known])
  return distance(word, near) <= Math.max(2, Math.floor(near.length / 3))
    ? `; did you mean ${near}?`
    : `; it is one of ${known.join(', ')}`
}

function described({ parentSchema }: ErrorObject): string {
  const { description } = (parentSchema ?? {}) as { description?: string }
  return description === undefined ? '' : `, and not ${description}`
}
