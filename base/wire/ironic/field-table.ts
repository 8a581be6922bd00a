import type { JsonSchema } from './json-schema.js'
import type { Microversion } from './microversion.js'

/** Conversion of a record's value to the answer's. */
type FieldKind =
  /** as it is */
  | 'plain'
  /** an object; the database's null is shown as `{}` */
  | 'object'
  /** gets its offset, `+00:00`, in the answer */
  | 'time'

/** A field as answers have it. */
export interface VersionedField<Name extends string> {
  readonly name: Name
  /** Hidden, and refused in requests with 406, below this. */
  readonly since: Microversion
  readonly kind: FieldKind
}

/** All that is known of one field of a node or port. */
export interface FieldRow<Value = unknown> {
  /** Microversion that brought it. */
  readonly since: Microversion
  /** Default `plain`. */
  readonly kind?: FieldKind
  /** Whether a list can be sorted by it. By default all but objects can. */
  readonly sortable?: false
  /** How its secrets are masked in answers. Default: it has none. */
  readonly secrets?: 'by name' | 'of an instance'
  /** Value in a new record, and what null in a request means; undefined if each creation sets it. */
  readonly default: Value | undefined
  /** Null in a request stays null, although there is a default. */
  readonly keepsNull?: true
  /** Schema of its value in requests; absent if no client sets it. */
  readonly schema?: JsonSchema
  /** False for a field that only a patch sets. */
  readonly creatable?: false
  /**
   * Place among the patchable fields, which a refusal lists: Ironic has sorted them by name, and appends newer ones. Absent
   * if no patch may change it.
   */
  readonly patchable?: 'by name' | 'appended'
  /** False where Ironic lets clients that are too old for the field change it by a patch. */
  readonly refusedInPatch?: false
}

/** A row of a table with its name. */
export type TableField<Name extends string = string> = VersionedField<Name> & FieldRow

type FieldTable = Readonly<Record<string, FieldRow>>

type NameIn<Table> = keyof Table & string
/** Fields that each creation sets, since they have no default. */
export type CreationField<Table> = NamesWith<Table, { readonly default: undefined }>
type NamesWith<Table, Members> = { [Name in NameIn<Table>]: Table[Name] extends Members ? Name : never }[NameIn<Table>]

/** The fields of a table, in its order. */
export const fieldsOf = <Table extends FieldTable>(table: Table): readonly TableField<NameIn<Table>>[] =>
  Object.entries(table).map(([name, row]) => ({ kind: 'plain', ...row, name: name as NameIn<Table> }))

/** Names of the fields that a patch may change, in the order in which a refusal lists them. */
export function patchableFields<Table extends FieldTable>(
  table: Table,
): readonly NamesWith<Table, { readonly patchable: 'by name' | 'appended' }>[] {
  const fields = fieldsOf<FieldTable>(table)
  const sorted = fields.filter(({ patchable }) => patchable === 'by name').sort((a, b) => (a.name < b.name ? -1 : 1))
  const appended = fields.filter(({ patchable }) => patchable === 'appended').sort((a, b) => a.since - b.since)
  return [...sorted, ...appended].map(({ name }) => name) as never
}

/** Values of a new record, but those that its creation sets. */
export const defaultsOf = (table: FieldTable): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    fieldsOf(table)
      .filter((field) => field.default !== undefined)
      .map((field) => [field.name, field.default]),
  )

/** Schemas of the fields that a request may have. */
export const schemasOf = (table: FieldTable, request: 'create' | 'patch'): JsonSchema =>
  Object.fromEntries(
    fieldsOf(table)
      .filter(({ schema, creatable }) => schema !== undefined && (request === 'patch' || creatable !== false))
      .map(({ name, schema }) => [name, schema]),
  )
