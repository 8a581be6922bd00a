import {
  ironicErrors,
  formatClientValue,
  type JsonObject,
  type JsonSchema,
  type PatchOperation,
} from '../../base/wire/index.js'
import { isLogicalName, isMac, isUuid, parseBoolean } from './formats.js'
import { applyPatch } from './json-patch.js'
import { checkDocument } from './api-schema.js'

/** @throws IronicError 400 for a path whose root is not among those that may be updated */
export function checkPatchable(patch: readonly PatchOperation[], allowed: readonly string[]): void {
  for (const { path } of patch)
    if (!allowed.includes(path.split('/')[1]!)) throw ironicErrors.notPatchable(path, allowed)
}

/**
 * Document of a record after a patch: the fields that a client may set, without removed ones.
 *
 * @param record with every field that the resource has, null included
 */
export function patchRecord(record: object, patch: readonly PatchOperation[], schema: JsonSchema): JsonObject {
  for (const { op, path } of patch)
    if (op === 'add' && path.split('/').length === 2 && !Object.hasOwn(record, path.slice(1)))
      throw ironicErrors.patchAddsRoot(path)
  const applied = applyPatch(record as JsonObject, patch)
  const known = Object.keys(schema.properties as JsonObject)
  const document = Object.fromEntries(Object.entries(applied).filter(([name]) => known.includes(name)))
  checkDocument(schema, 'patch', document)
  return document
}

/** Values that a patch sets for a whole field. */
export const patchValues = (patch: readonly PatchOperation[], name: string): unknown[] =>
  patch.filter(({ op, path }) => op !== 'remove' && path === `/${name}`).map(({ value }) => value)

type FieldForm = 'uuid' | 'mac' | 'boolean'

/** Reads the present fields of a document by their form: MACs in lower case, booleans from words. */
export function readForms(document: JsonObject, forms: Readonly<Record<string, FieldForm>>): JsonObject {
  const out = { ...document }
  for (const [name, form] of Object.entries(forms)) {
    const value = out[name]
    if (value === undefined || value === null) continue
    switch (form) {
      case 'uuid':
        if (!isUuid(formatClientValue(value))) throw ironicErrors.expected('UUID', name, formatClientValue(value))
        out[name] = formatClientValue(value).toLowerCase()
        break
      case 'mac':
        if (!isMac(formatClientValue(value)))
          throw ironicErrors.expected('valid MAC address', name, formatClientValue(value))
        out[name] = formatClientValue(value).toLowerCase()
        break
      case 'boolean':
        out[name] = parseBoolean(value)
        if (out[name] === undefined) throw ironicErrors.notBoolean(name, formatClientValue(value))
    }
  }
  return out
}

/** Fields of a document, with defaults for absent ones, and for nulls where null means the default. */
export function withDefaults(document: JsonObject, defaults: JsonObject): JsonObject {
  const out: JsonObject = {}
  for (const [name, fallback] of Object.entries(defaults)) {
    const value = document[name]
    out[name] = value === undefined || value === null ? structuredClone(fallback) : value
  }
  return out
}

export const isName = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 255 && isLogicalName(value)
