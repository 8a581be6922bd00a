import { pointerParts } from '../../../base/runtime/index.js'
import { copyJson, isMembers, isSameJson, jsonSize, setMember, type KubeJson, type JsonMembers } from './kube-json.js'
import { entityTooLarge } from './refusals.js'

/** Operations of one JSON patch: apiserver 0.31 pkg/endpoints/handlers/patch.go, maxJSONPatchOperations. */
const MAX_OPERATIONS = 10_000

/** Bytes that the copies of one JSON patch may add: apiserver 0.31 pkg/server/config.go, JSONPatchMaxCopyBytes. */
const MAX_COPIED = 3 * 1024 * 1024

/** A JSON merge patch (RFC 7386): null removes a member, objects are merged, the rest replaces. */
export function mergePatch(target: KubeJson | undefined, patch: KubeJson): KubeJson {
  if (!isMembers(patch)) return patch
  const merged: Record<string, KubeJson> = isMembers(target) ? { ...target } : {}
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
export function jsonPatch(document: KubeJson, operations: KubeJson): KubeJson {
  if (!Array.isArray(operations)) throw new PatchProblem('a JSON patch is a list of operations')
  if (operations.length > MAX_OPERATIONS)
    throw entityTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    )
  // The document is a member of its own, so that an operation may replace it as a whole.
  const holder = { '': copyJson(document) }
  const copies = new CopiedBytes()
  for (const operation of operations as readonly KubeJson[]) {
    if (!isMembers(operation)) throw new PatchProblem('an operation of a JSON patch is an object')
    applyOperation(holder, operation, copies)
  }
  return holder['']
}

/** Bytes that copies have added: copies of a list into itself would double it each time. */
class CopiedBytes {
  #bytes = 0

  /** @throws PatchProblem once the copies together are too large */
  copy(value: KubeJson): KubeJson {
    this.#bytes += jsonSize(value)
    if (this.#bytes > MAX_COPIED)
      throw new PatchProblem(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#bytes}, exceeding the limit ${MAX_COPIED}`,
      )
    return copyJson(value)
  }
}

function applyOperation(holder: { '': KubeJson }, operation: JsonMembers, copies: CopiedBytes): void {
  const at = (name: 'path' | 'from') => ['', ...pointer(operation[name], name)]
  const value = (): KubeJson => {
    if (!Object.hasOwn(operation, 'value')) throw new PatchProblem('the operation has no value')
    return copyJson(operation['value']!)
  }
  const { op } = operation
  switch (op) {
    case 'add':
      return putValue(holder, at('path'), value(), false)
    case 'replace':
      return putValue(holder, at('path'), value(), true)
    case 'remove':
      return void takeValue(holder, at('path'))
    case 'move': {
      if (
        at('path')
          .join('/')
          .startsWith(`${at('from').join('/')}/`)
      )
        throw new PatchProblem('a value cannot be moved into itself')
      return putValue(holder, at('path'), takeValue(holder, at('from')), false)
    }
    case 'copy':
      return putValue(holder, at('path'), copies.copy(patchValueAt(holder, at('from'))), false)
    case 'test':
      if (isSameJson(patchValueAt(holder, at('path')), value())) return
      throw new PatchProblem(`testing value ${String(operation['path'])} failed`)
    default:
      throw new PatchProblem(`unexpected kind of operation: ${JSON.stringify(op ?? null)}`)
  }
}

function pointer(path: KubeJson | undefined, name: string): string[] {
  if (typeof path !== 'string') throw new PatchProblem(`the operation has no ${name}`)
  if (path !== '' && !path.startsWith('/')) throw new PatchProblem(`${name} must begin with a slash: ${path}`)
  return pointerParts(path)
}

const PATCH_INDEX = /^(0|[1-9]\d{0,8})$/
const missingValueProblem = (keys: readonly string[]): PatchProblem =>
  new PatchProblem(`there is no value at ${keys.join('/')}`)

function patchValueAt(holder: JsonMembers, keys: readonly string[]): KubeJson {
  return keys.reduce<KubeJson>((value, key) => {
    if (Array.isArray(value) && PATCH_INDEX.test(key) && Number(key) < value.length)
      return (value as KubeJson[])[Number(key)]!
    if (isMembers(value) && Object.hasOwn(value, key)) return value[key]!
    throw missingValueProblem(keys)
  }, holder)
}

function putValue(holder: JsonMembers, keys: readonly string[], value: KubeJson, mustExist: boolean): void {
  const parent = patchValueAt(holder, keys.slice(0, -1))
  const key = keys.at(-1)!
  if (mustExist) patchValueAt(holder, keys)
  if (isMembers(parent)) return setMember(parent, key, value)
  if (!Array.isArray(parent)) throw missingValueProblem(keys)
  const list = parent as KubeJson[]
  const index = key === '-' && !mustExist ? list.length : PATCH_INDEX.test(key) ? Number(key) : -1
  if (index < 0 || index > list.length) throw missingValueProblem(keys)
  list.splice(index, mustExist ? 1 : 0, value)
}

function takeValue(holder: JsonMembers, keys: readonly string[]): KubeJson {
  if (keys.length === 1) throw new PatchProblem('the whole document cannot be removed')
  const value = patchValueAt(holder, keys)
  const parent = patchValueAt(holder, keys.slice(0, -1))
  const key = keys.at(-1)!
  if (Array.isArray(parent)) (parent as KubeJson[]).splice(Number(key), 1)
  else delete (parent as Record<string, KubeJson>)[key]
  return value
}
