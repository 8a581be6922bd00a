import { EMBEDDED, NAMED_LISTS, STRUCTS, type FieldRow } from './tables.js'
import { atLeast, SPEC_VERSIONS, type SpecVersion } from './versions.js'

/** Type of a field. `goType` is its name in the messages of Ignition's decoder. */
export type FieldType =
  | { kind: 'text' | 'number' | 'flag'; optional: boolean; goType: string }
  | { kind: 'struct'; struct: Struct; optional: boolean; goType: string }
  | { kind: 'list'; items: Exclude<FieldType, { kind: 'list' }>; goType: string }

export interface Field {
  key: string
  type: FieldType
  /** Name of the embedded struct that has the field; null without one. */
  part: string | null
}

export interface Struct {
  name: string
  fields: Field[]
  byKey: Map<string, Field>
  /** By {@link folded} key. */
  byFolded: Map<string, Field>
}

/** The objects of one version of the spec. */
export interface Spec {
  version: SpecVersion
  root: Struct
  structs: Map<string, Struct>
}

const known = new Map<SpecVersion, Spec>()

export function specOf(version: SpecVersion): Spec {
  const found = known.get(version)
  if (found) return found
  const structs = new Map<string, Struct>()
  const made: Spec = { version, root: structOf('Config', version, structs), structs }
  known.set(version, made)
  return made
}

/** Folds a key as Go compares keys: lower case, with the two letters beyond ASCII that fold to ASCII. */
export const folded = (key: string): string => key.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase()

function structOf(name: string, version: SpecVersion, structs: Map<string, Struct>): Struct {
  const found = structs.get(name)
  if (found) return found
  const made: Struct = { name, fields: [], byKey: new Map(), byFolded: new Map() }
  structs.set(name, made)
  for (const part of EMBEDDED[name] ?? [null])
    for (const [key, row] of Object.entries(STRUCTS[part ?? name] ?? {})) {
      const reading = readingIn(row, version)
      if (reading !== null) made.fields.push({ key, type: typeOf(reading, version, structs), part })
    }
  for (const field of made.fields) {
    made.byKey.set(field.key, field)
    made.byFolded.set(folded(field.key), field)
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

function typeOf(reading: string, version: SpecVersion, structs: Map<string, Struct>): FieldType {
  const named = NAMED_LISTS[reading]
  if (named !== undefined) return { ...listOf(named.slice(0, -2), version, structs), goType: `types.${reading}` }
  if (reading.endsWith('[]')) return listOf(reading.slice(0, -2), version, structs)
  return single(reading, version, structs)
}

function listOf(item: string, version: SpecVersion, structs: Map<string, Struct>): FieldType & { kind: 'list' } {
  const items = single(item, version, structs)
  return { kind: 'list', items, goType: `[]${items.goType}` }
}

function single(
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
