import { EMBEDDED, NAMED_LISTS, STRUCTS, type FieldRow } from './tables.js'
import { atLeast, SPEC_VERSIONS, type SpecVersion } from './spec-versions.js'

/** Type of a field. `goType` is its name in the messages of Ignition's decoder. */
export type FieldType =
  | { kind: 'text' | 'number' | 'flag'; optional: boolean; goType: string }
  | { kind: 'struct'; struct: Struct; optional: boolean; goType: string }
  | { kind: 'list'; items: Exclude<FieldType, { kind: 'list' }>; goType: string }

export interface StructField {
  key: string
  type: FieldType
  /** Name of the embedded struct that has the field; null without one. */
  part: string | null
}

export interface Struct {
  name: string
  fields: StructField[]
  byKey: Map<string, StructField>
  /** By {@link foldKey} key. */
  byFolded: Map<string, StructField>
}

/** The objects of one version of the spec. */
export interface IgnitionSpec {
  version: SpecVersion
  root: Struct
  structs: Map<string, Struct>
}

const knownSpecs = new Map<SpecVersion, IgnitionSpec>()

export function ignitionSpecOf(version: SpecVersion): IgnitionSpec {
  const found = knownSpecs.get(version)
  if (found) return found
  const structs = new Map<string, Struct>()
  const made: IgnitionSpec = { version, root: structOf('Config', version, structs), structs }
  knownSpecs.set(version, made)
  return made
}

/** Folds a key as Go compares keys: lower case, with the two letters beyond ASCII that fold to ASCII. */
export const foldKey = (key: string): string => key.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase()

function structOf(name: string, version: SpecVersion, structs: Map<string, Struct>): Struct {
  const found = structs.get(name)
  if (found) return found
  const made: Struct = { name, fields: [], byKey: new Map(), byFolded: new Map() }
  structs.set(name, made)
  for (const part of EMBEDDED[name] ?? [null])
    for (const [key, row] of Object.entries(STRUCTS[part ?? name] ?? {})) {
      const reading = readingIn(row, version)
      if (reading !== null) made.fields.push({ key, type: fieldTypeOf(reading, version, structs), part })
    }
  for (const field of made.fields) {
    made.byKey.set(field.key, field)
    made.byFolded.set(foldKey(field.key), field)
  }
  return made
}

function readingIn(row: FieldRow, version: SpecVersion): string | null {
  if (typeof row === 'string') return row
  let reading: string | null = null
  for (const since of SPEC_VERSIONS) if (atLeast(version, since)) reading = row[since] ?? reading
  return reading
}

const GO_TYPES = { text: 'string', number: 'int', flag: 'bool' } as const

function fieldTypeOf(reading: string, version: SpecVersion, structs: Map<string, Struct>): FieldType {
  const named = NAMED_LISTS[reading]
  if (named !== undefined) return { ...listTypeOf(named.slice(0, -2), version, structs), goType: `types.${reading}` }
  if (reading.endsWith('[]')) return listTypeOf(reading.slice(0, -2), version, structs)
  return singleTypeOf(reading, version, structs)
}

function listTypeOf(item: string, version: SpecVersion, structs: Map<string, Struct>): FieldType & { kind: 'list' } {
  const items = singleTypeOf(item, version, structs)
  return { kind: 'list', items, goType: `[]${items.goType}` }
}

function singleTypeOf(
  reading: string,
  version: SpecVersion,
  structs: Map<string, Struct>,
): Exclude<FieldType, { kind: 'list' }> {
  const optional = reading.endsWith('?')
  const name = optional ? reading.slice(0, -1) : reading
  if (name === 'text' || name === 'number' || name === 'flag') return { kind: name, optional, goType: GO_TYPES[name] }
  if (name in STRUCTS || name in EMBEDDED)
    return { kind: 'struct', struct: structOf(name, version, structs), optional, goType: `types.${name}` }
  return { kind: 'text', optional: false, goType: `types.${name}` }
}
