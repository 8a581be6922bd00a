import { isUtf8 } from 'node:buffer'

/** A database of a state folder: how an empty one is made, and what its rows must be like. */
export interface DatabaseForm {
  /** As in `ironic.db`. */
  readonly file: string
  /** `PRAGMA user_version`; 0 when it is not counted. */
  readonly version: number
  /** Versions before sums and seal, which are brought up to date when they are opened. */
  readonly older: readonly number[]
  /** SQL that makes the tables. With a seal, each has a column `sum` before its last one, which may be long. */
  readonly schema: string
  /** Bytes of a page. */
  readonly pageSize: number
  readonly tables: readonly TableForm[]
  /** Whether each row has its sum, and the database its seal. */
  readonly sealed: boolean
}

export interface TableForm {
  readonly name: string
  /** Without the sum. Only the last one may be long. */
  readonly columns: readonly string[]
  /** Columns that identify a row. */
  readonly key: readonly string[]
  /** Why a row cannot be used; undefined when it can. */
  problem(row: Readonly<Record<string, unknown>>): string | undefined
}

export type Row = Record<string, unknown>

/** Columns for SELECT, texts as bytes: libsql ends the process at text that is not UTF-8. For {@link decodedRow}. */
export const asBytes = (columns: readonly string[]): string =>
  columns
    .map(
      (name) =>
        `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) WHEN 'blob' THEN NULL ELSE ${name} END AS ${name}`,
    )
    .join(', ')

/** A row with its texts decoded; undefined when one of them is not UTF-8. */
export function decodedRow(row: Readonly<Row>): Row | undefined {
  const decoded: Row = {}
  for (const [name, value] of Object.entries(row)) {
    const bytes =
      value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? Buffer.from(value as ArrayBuffer) : undefined
    if (bytes && !isUtf8(bytes)) return undefined
    decoded[name] = bytes ? bytes.toString() : value
  }
  return decoded
}

/**
 * Why a JSON text cannot be used: it does not parse, or lacks what its model has, or has it of another type. What is null
 * in the model may be anything.
 */
export function jsonProblem(text: unknown, model: Readonly<Record<string, unknown>> = {}): string | undefined {
  if (typeof text !== 'string') return 'it is no text'
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'its record is not JSON'
  }
  if (Object.keys(model).length === 0) return undefined
  if (typeOf(value) !== 'object') return 'its record is not an object'
  for (const [key, sample] of Object.entries(model)) {
    if (!Object.hasOwn(value as object, key)) return `its record lacks ${key}`
    const type = typeOf((value as Row)[key])
    if (sample !== null && type !== 'null' && type !== typeOf(sample)) return `its ${key} is no ${typeOf(sample)}`
  }
  return undefined
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
