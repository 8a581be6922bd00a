import { ironicErrors, pythonRepr, type JsonObject, type PatchOperation } from '../../base/wire/index.js'

/** Thrown for an operation that cannot be applied, in python-jsonpatch's words. */
class PatchConflict extends Error {}

/**
 * Applies the operations to a copy, all or none. A removed root attribute is removed from the document.
 *
 * @throws IronicError 400 `Couldn't apply patch '{...}'. Reason: ...`
 */
export function applyPatch(document: JsonObject, patch: readonly PatchOperation[]): JsonObject {
  const result = structuredClone(document)
  for (const operation of patch) {
    try {
      applyOne(result, operation)
    } catch (error) {
      if (!(error instanceof PatchConflict)) throw error
      throw ironicErrors.patchFailed(pythonRepr(operation), error.message)
    }
  }
  return result
}

function applyOne(document: JsonObject, operation: PatchOperation): void {
  const { op, path } = operation
  if (op !== 'remove' && !('value' in operation))
    throw new PatchConflict("The operation does not contain a 'value' member")
  const keys = path.split('/').slice(1)
  const last = keys.pop()!
  const parent = keys.reduce<unknown>(stepInto, document)
  const value = structuredClone(operation.value)
  if (Array.isArray(parent)) applyToList(parent, op, last, value)
  else if (parent !== null && typeof parent === 'object') applyToObject(parent as JsonObject, op, last, value)
  else throw notContainer(parent, last)
}

const POINTER_INDEX = /^(0|[1-9]\d*)$/

/** Error for a path into a value without members. To Python a text is a sequence, with another sentence. */
function notContainer(value: unknown, key: string): PatchConflict {
  if (typeof value === 'string')
    return new PatchConflict(`Cannot apply token '${key}' to non-container type <class 'str'>`)
  const type =
    value === null ? 'NoneType' : typeof value === 'boolean' ? 'bool' : Number.isInteger(value) ? 'int' : 'float'
  return new PatchConflict(
    `Document '<class '${type}'>' does not support indexing, must be mapping/sequence or support __getitem__`,
  )
}

function stepInto(parent: unknown, key: string): unknown {
  if (Array.isArray(parent)) {
    if (!POINTER_INDEX.test(key)) throw new PatchConflict(`'${key}' is not a valid sequence index`)
    const item: unknown = parent[Number(key)]
    if (item === undefined) throw new PatchConflict(`member '${key}' not found in ${pythonRepr(parent)}`)
    return item
  }
  if (parent === null || typeof parent !== 'object') throw notContainer(parent, key)
  if (!Object.hasOwn(parent, key)) throw new PatchConflict(`member '${key}' not found in ${pythonRepr(parent)}`)
  return (parent as JsonObject)[key]
}

function applyToObject(parent: JsonObject, op: PatchOperation['op'], key: string, value: unknown): void {
  if (op !== 'add' && !Object.hasOwn(parent, key)) throw new PatchConflict(`can't ${op} a non-existent object '${key}'`)
  if (op === 'remove') delete parent[key]
  // A plain assignment to `__proto__` would change the object's prototype instead of making a member.
  else Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true })
}

function applyToList(list: unknown[], op: PatchOperation['op'], key: string, value: unknown): void {
  if (key === '-' && op === 'replace')
    throw new PatchConflict("'path' with '-' can't be applied to 'replace' operation")
  if (key === '-' && op === 'remove') throw new PatchConflict("invalid array index '-'")
  const index = key === '-' ? list.length : POINTER_INDEX.test(key) ? Number(key) : undefined
  if (index === undefined) throw new PatchConflict(`'${key}' is not a valid sequence index`)
  switch (op) {
    case 'add':
      if (index > list.length) throw new PatchConflict("can't insert outside of list")
      list.splice(index, 0, value)
      break
    case 'replace':
      if (index >= list.length) throw new PatchConflict("can't replace outside of list")
      list[index] = value
      break
    case 'remove':
      if (index >= list.length) throw new PatchConflict(`can't remove a non-existent object '${key}'`)
      list.splice(index, 1)
  }
}
