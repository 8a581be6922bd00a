import { isObject } from '../../base/runtime/index.js'
import { JsonScan } from './json-scan.js'
import { GoJsonError } from './json-error.js'

/** Values that a field takes: as much of a JSON Schema as says what Go's type is. */
export interface GoShape {
  type?: string | string[]
  properties?: Record<string, GoShape>
  items?: GoShape
}

export interface DecodeOptions {
  /** Name of the Go type. */
  name: string
  shape: GoShape
  /** A decoder reads one value and leaves what follows (`NewDecoder(...).Decode`); `Unmarshal` takes nothing else. */
  isDecoder: boolean
  /** `DisallowUnknownFields`. */
  refusesUnknown?: boolean
}

/** Reads a JSON text into a structure as Go does. @throws GoJsonError */
export function decodeJson(text: string, { name, shape, isDecoder, refusesUnknown = false }: DecodeOptions): unknown {
  const end = checkSyntax(text, isDecoder)
  const value = JSON.parse(text.slice(0, end)) as unknown
  const problem = shapeProblem(value, shape, { name, path: [], refusesUnknown })
  if (problem !== undefined) throw new GoJsonError(problem)
  return value
}

interface ShapePlace {
  name: string
  path: readonly string[]
  refusesUnknown: boolean
}

/** The first thing that a Go structure does not take. */
function shapeProblem(value: unknown, shape: GoShape, place: ShapePlace): string | undefined {
  if (value === null || shape.type === undefined) return undefined
  const is = jsonKind(value)
  if (![shape.type].flat().some((wanted) => KINDS[wanted] === is)) return mismatch(value, shape, place)
  if (Array.isArray(value))
    return firstProblem(value.map((each) => [each as unknown, shape.items ?? {}, place] as const))
  if (!isObject(value) || !shape.properties) return undefined
  // Go finds a field by its letters in any case.
  const fields = new Map(Object.entries(shape.properties).map(([name, field]) => [name.toLowerCase(), { name, field }]))
  for (const [key, member] of Object.entries(value)) {
    const found = fields.get(key.toLowerCase())
    if (!found && place.refusesUnknown) return `json: unknown field ${JSON.stringify(key)}`
    const problem = found && shapeProblem(member, found.field, { ...place, path: [...place.path, found.name] })
    if (problem !== undefined) return problem
  }
  return undefined
}

const firstProblem = (items: readonly (readonly [unknown, GoShape, ShapePlace])[]): string | undefined =>
  items.map((item) => shapeProblem(...item)).find((problem) => problem !== undefined)

const KINDS: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'bool',
  integer: 'number',
  number: 'number',
  object: 'object',
  array: 'array',
}

const GO_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'bool',
  integer: 'int',
  number: 'float64',
  array: 'list',
}

function mismatch(value: unknown, { type }: GoShape, { name, path }: ShapePlace): string {
  const wanted = [type].flat()[0] ?? ''
  if (path.length === 0) return `json: cannot unmarshal ${jsonKind(value)} into Go value of type v1alpha1.${name}`
  const goType = GO_TYPES[wanted] ?? `v1alpha1.${name}`
  return `json: cannot unmarshal ${jsonKind(value)} into Go struct field ${name}.${path.join('.')} of type ${goType}`
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** @returns where the value ends @throws GoJsonError */
function checkSyntax(text: string, isDecoder: boolean): number {
  if (isDecoder && text.trim() === '') throw new GoJsonError('EOF')
  const scan = new JsonScan(text, isDecoder ? 'unexpected EOF' : 'unexpected end of JSON input')
  scan.checkValue()
  if (!isDecoder) scan.checkEnd()
  return scan.at
}
