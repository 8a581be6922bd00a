import type { ErrorObject } from 'ajv'
import { didYouMean, pointerParts } from '../runtime/index.js'

export interface SchemaProblem {
  /** Keys and indexes from the top of the document. Ends with a name that the document has and should not have. */
  readonly path: readonly string[]
  /** `effect.kind is "agent-silnt"; did you mean agent-silent?` */
  readonly message: string
  /** The error that was chosen. */
  readonly error: ErrorObject
}

/**
 * The first thing that is wrong with a document, in words. Values that have another type than the schema's are not
 * shown: such a value may be a password in the place of the setting that says where one is.
 *
 * @param all errors of an ajv with `allErrors` and `verbose`; at least one
 * @param words for the document as a whole, and before the name of an unknown key
 */
export function schemaProblem(all: readonly ErrorObject[], words = { document: 'it', key: '' }): SchemaProblem {
  const errors = ofNamedAlternatives(all)
  // The alternative that the document comes nearest to is meant: its errors lie deepest.
  const own = errors.filter(({ keyword }) => !['oneOf', 'anyOf', 'const'].includes(keyword))
  const depth = ({ instancePath }: ErrorObject) => instancePath.split('/').length
  const wrongKind = own.find(({ keyword }) => keyword === 'enum')
  const error =
    wrongKind ??
    own.reduce<ErrorObject | undefined>((a, b) => (a && depth(a) >= depth(b) ? a : b), undefined) ??
    errors[0]!
  const both = errors.map(excluding).find((each) => each !== undefined)
  const path = pointerParts(error.instancePath)
  if (both !== undefined) return { path, message: both, error }
  const where = path.length === 0 ? words.document : path.join('.')
  const params = error.params as Record<string, unknown>
  const problem = (message: string, at: readonly string[] = path): SchemaProblem => ({ path: at, message, error })
  switch (error.keyword) {
    case 'required':
      return problem(`${[...path, String(params['missingProperty'])].join('.')} is missing`)
    case 'additionalProperties': {
      const name = String(params['additionalProperty'])
      const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {})
      const at = [...path, name]
      return problem(`there is no ${words.key}${at.join('.')}${didYouMean(name, known)}`, at)
    }
    case 'enum': {
      const allowed = (params['allowedValues'] as unknown[]).map(String)
      return problem(`${where} is ${JSON.stringify(error.data)}${didYouMean(String(error.data), allowed)}`)
    }
    case 'pattern':
      return problem(`${where} is ${JSON.stringify(error.data)}${wantedForm(error)}`)
    case 'type':
      return problem(`${where} is ${describeType(error.data)}, and not ${wantedTypes(params['type'])}`)
    default:
      return problem(`${where} ${error.message ?? 'is wrong'}`)
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

function wantedForm({ parentSchema }: ErrorObject): string {
  const { description } = (parentSchema ?? {}) as { description?: string }
  return description === undefined ? ', which has another form' : `, and not ${description}`
}

function describeType(value: unknown): string {
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'a text' : typeof value === 'number' ? 'a number' : 'true or false'
}

const SCHEMA_TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  number: 'a number',
  null: 'empty',
}
const wantedTypes = (type: unknown): string =>
  [type]
    .flat()
    .map((each) => SCHEMA_TYPE_NAMES[String(each)] ?? String(each))
    .join(' or ')
