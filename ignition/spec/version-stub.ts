import type { JsonNode } from '../json/read-json.js'
import { foldKey } from './spec.js'
import { typeMismatch, type Mismatch } from './mismatch.js'

/** Names in Ignition's messages for the two structs that it reads before it knows the version. */
const STUB = 'versionStub'
const HEADER_STRUCT = 'struct { Version string }'

/**
 * The text of `ignition.version`, which Ignition reads first, by a decoder of its own; empty when there is none.
 */
export function versionText(node: JsonNode): { version: string } | { mismatch: Mismatch } {
  if (node.kind === 'null') return { version: '' }
  if (node.kind !== 'object') return { mismatch: typeMismatch(node, `util.${STUB}`, null) }
  let version = ''
  for (const header of node.members) {
    if (foldKey(header.key) !== 'ignition' || header.value.kind === 'null') continue
    if (header.value.kind !== 'object')
      return { mismatch: typeMismatch(header.value, HEADER_STRUCT, { struct: STUB, fields: ['Ignition'] }) }
    for (const { key, value } of header.value.members) {
      if (foldKey(key) !== 'version' || value.kind === 'null') continue
      if (value.kind !== 'text')
        return { mismatch: typeMismatch(value, 'string', { struct: '', fields: ['Ignition', 'Version'] }) }
      version = value.text
    }
  }
  return { version }
}
