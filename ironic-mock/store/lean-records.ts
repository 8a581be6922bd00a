import {
  NODE_RECORD_FIELDS,
  PORT_RECORD_FIELDS,
  type JsonObject,
  type NodeRecord,
  type PortRecord,
} from '../../base/wire/index.js'

// Each kind of record that stays in memory begins as a copy of one model, so that V8 describes the fields of all of them
// once. A record that is put together from others gets a description of its own, which is as large as its values; reading
// a field of thousands of such records takes ten times as long.

const EMPTY_OBJECT: JsonObject = Object.freeze({})

/** Most objects of a record are empty. */
function lean(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  for (const _ in value) return value
  return EMPTY_OBJECT
}

/**
 * Makes the function that copies records of one kind. Copies share the values of the record.
 *
 * @param fields names of all that a record of the kind has
 */
function leanCopier<Kept extends object>(fields: readonly (keyof Kept & string)[]): (record: Kept) => Kept {
  // V8 makes a dictionary of an object that gets this many fields one by one, but not of a parsed one and its copies.
  const model = JSON.parse(JSON.stringify(Object.fromEntries(fields.map((name) => [name, null])))) as Kept
  return (record) => {
    const copy = { ...model }
    for (const name in copy) copy[name] = lean(record[name]) as Kept[typeof name]
    return copy
  }
}

export const leanNode = leanCopier<NodeRecord>(NODE_RECORD_FIELDS)
export const leanPort = leanCopier<PortRecord>(PORT_RECORD_FIELDS)
