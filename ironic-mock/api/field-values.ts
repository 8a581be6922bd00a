import { formatClientValue, ironicErrors, type JsonObject, type TableField } from '../../base/wire/index.js'
import { parseBoolean } from './formats.js'

/** Fields of a request as they are stored: defaults for null, booleans from words. */
export function readFieldValues(document: JsonObject, fields: readonly TableField[]): JsonObject {
  const out: JsonObject = { ...document }
  for (const [name, value] of Object.entries(document)) {
    const field = fields.find((each) => each.name === name)
    if (!field) continue
    if (value === null) {
      if (field.default !== undefined && !field.keepsNull) out[name] = structuredClone(field.default)
    } else if (isBoolean(field)) {
      const flag = parseBoolean(value)
      if (flag === undefined) throw ironicErrors.notBoolean(name, formatClientValue(value))
      out[name] = flag
    }
  }
  return out
}

const isBoolean = ({ schema }: TableField): boolean => [schema?.type].flat().includes('boolean')
