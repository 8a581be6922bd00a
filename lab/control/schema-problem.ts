import { closest, distance } from 'fastest-levenshtein'
import type { ErrorObject } from 'ajv'

/** The first thing that is wrong with a document, in words: `effect.kind is "agent-silnt"; did you mean agent-silent?` */
export function schemaProblem(all: readonly ErrorObject[]): string {
  const errors = ofNamedAlternatives(all)
  // The alternative that the document comes nearest to is meant: its errors lie deepest.
  const own = errors.filter(({ keyword }) => keyword !== 'oneOf' && keyword !== 'const')
  const depth = ({ instancePath }: ErrorObject) => instancePath.split('/').length
  const wrongKind = own.find(({ keyword }) => keyword === 'enum')
  const error =
    wrongKind ??
    own.reduce<ErrorObject | undefined>((a, b) => (a && depth(a) >= depth(b) ? a : b), undefined) ??
    errors[0]!
  const both = errors.map(excluding).find((each) => each !== undefined)
  if (both !== undefined) return both
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

/** Errors without those of alternatives whose name the document does not have: it has named another. */
function ofNamedAlternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const others = errors.flatMap(({ keyword, schemaPath }) => {
    const [alternative] = (keyword === 'const' && /^.*\/oneOf\/\d+\//.exec(schemaPath)) || []
    return alternative === undefined ? [] : [alternative]
  })
  const left = errors.filter(({ schemaPath }) => !others.some((path) => schemaPath.startsWith(path)))
  return left.some(({ keyword }) => keyword !== 'oneOf') ? left : errors
}

interface Alternative {
  readonly properties?: Readonly<Record<string, { readonly const?: unknown }>>
  readonly required?: readonly string[]
}

/** Says which members exclude each other: each belongs to an alternative of its own, and they came together. */
function excluding({ keyword, schema, data }: ErrorObject): string | undefined {
  if (keyword !== 'oneOf' || typeof data !== 'object' || data === null) return undefined
  const all = schema as readonly Alternative[]
  if (all.some(({ properties = {} }) => Object.values(properties).some((each) => typeof each.const === 'string')))
    return undefined
  const asked = all.filter(({ required = [] }) => required.length > 0 && required.every((name) => name in data))
  const own = asked.flatMap(({ required = [] }, index) =>
    required.filter((name) => !asked.some(({ properties = {} }, other) => other !== index && name in properties)),
  )
  return own.length < 2 ? undefined : `${own.join(' and ')} exclude each other`
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
