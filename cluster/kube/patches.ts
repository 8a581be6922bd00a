import { pointerParts } from '../../runtime/index.js'
import { copyOf, isMembers, isSame, jsonSize, setMember, type Json, type JsonMembers } from './json.js'
import { entityTooLarge } from './refusals.js'

/** Operations of one JSON patch: apiserver 0.31 pkg/endpoints/handlers/patch.go, maxJSONPatchOperations. */
const MAX_OPERATIONS = 10_000

/** Bytes that the copies of one JSON patch may add: apiserver 0.31 pkg/server/config.go, JSONPatchMaxCopyBytes. */
const MAX_COPIED = 3 * 1024 * 1024

/** A JSON merge patch (RFC 7386): null removes a member, objects are merged, the rest replaces. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isMembers(patch)) return patch
  const merged: Record<string, Json> = isMembers(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else setMember(merged, name, mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value))
  }
  return merged
}

/** An operation of a JSON patch that cannot be applied. */
export class PatchProblem extends Error {
  override name = 'PatchProblem'
}

/**
 * Applies a JSON patch (RFC 6902) to a copy, all operations or none.
 *
 * @throws PatchProblem for an operation that is malformed or does not fit the document, or copies too much
 * @throws KubeRefusal 413 for too many operations
 */
export function jsonPatch(document: Json, operations: Json): Json {
  if (!Array.isArray(operations)) throw new PatchProblem('a JSON patch is a list of operations')
  if (operations.length > MAX_OPERATIONS)
    throw entityTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    )
  // The document is a member of its own, so that an operation may replace it as a whole.
  const holder = { '': copyOf(document) }
  const copies = new CopiedBytes()
  for (const operation of operations as readonly Json[]) {
    if (!isMembers(operation)) throw new PatchProblem('an operation of a JSON patch is an object')
    applyOperation(holder, operation, copies)
  }
  return holder['']
}

/** Bytes that copies have added: copies of a list into itself would double it each time. */
class CopiedBytes {
  #bytes = 0

  /** @throws PatchProblem once the copies together are too large */
  copy(value: Json): Json {
    this.#bytes += jsonSize(value)
    if (this.#bytes > MAX_COPIED)
      throw new PatchProblem(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#bytes}, exceeding the limit ${MAX_COPIED}`,
      )
    return copyOf(value)
  }
}

function applyOperation(holder: { '': Json }, operation: JsonMembers, copies: CopiedBytes): void {
  const at = (name: 'path' | 'from') => ['', ...pointer(operation[name], name)]
  const value = (): Json => {
    if (!Object.hasOwn(operation, 'value')) throw new PatchProblem('the operation has no value')
    return copyOf(operation['value']!)
  }
  const { op } = operation
  switch (op) {
    case 'add':
      return put(holder, at('path'), value(), false)
    case 'replace':
      return put(holder, at('path'), value(), true)
    case 'remove':
      return void take(holder, at('path'))
    case 'move': {
      if (
        at('path')
          .join('/')
          .startsWith(`${at('from').join('/')}/`)
      )
        throw new PatchProblem('a value cannot be moved into itself')
      return put(holder, at('path'), take(holder, at('from')), false)
    }
    case 'copy':
      return put(holder, at('path'), copies.copy(valueAt(holder, at('from'))), false)
    case 'test':
      if (isSame(valueAt(holder, at('path')), value())) return
      throw new PatchProblem(`testing value ${String(operation['path'])} failed`)
    default:
      throw new PatchProblem(`unexpected kind of operation: ${JSON.stringify(op ?? null)}`)
  }
}

function pointer(path: Json | undefined, name: string): string[] {
  if (typeof path !== 'string') throw new PatchProblem(`the operation has no ${name}`)
  if (path !== '' && !path.startsWith('/')) throw new PatchProblem(`${name} must begin with a slash: ${path}`)
  return pointerParts(path)
}

const INDEX = /^(0|[1-9]\d{0,8})$/
const missing = (keys: readonly string[]): PatchProblem => new PatchProblem(`there is no value at ${keys.join('/')}`)

function valueAt(holder: JsonMembers, keys: readonly string[]): Json {
  return keys.reduce<Json>((value, key) => {
    if (Array.isArray(value) && INDEX.test(key) && Number(key) < value.length) return (value as Json[])[Number(key)]!
    if (isMembers(value) && Object.hasOwn(value, key)) return value[key]!
    throw missing(keys)
  }, holder)
}

function put(holder: JsonMembers, keys: readonly string[], value: Json, mustExist: boolean): void {
  const parent = valueAt(holder, keys.slice(0, -1))
  const key = keys.at(-1)!
  if (mustExist) valueAt(holder, keys)
  if (isMembers(parent)) return setMember(parent, key, value)
  if (!Array.isArray(parent)) throw missing(keys)
  const list = parent as Json[]
  const index = key === '-' && !mustExist ? list.length : INDEX.test(key) ? Number(key) : -1
  if (index < 0 || index > list.length) throw missing(keys)
  list.splice(index, mustExist ? 1 : 0, value)
}

function take(holder: JsonMembers, keys: readonly string[]): Json {
  if (keys.length === 1) throw new PatchProblem('the whole document cannot be removed')
  const value = valueAt(holder, keys)
  const parent = valueAt(holder, keys.slice(0, -1))
  const key = keys.at(-1)!
  if (Array.isArray(parent)) (parent as Json[]).splice(Number(key), 1)
  else delete (parent as Record<string, Json>)[key]
  return value
}
