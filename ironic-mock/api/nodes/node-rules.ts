import { ironicErrors, NODE_FIELDS, SINCE, type Microversion } from '../../../base/wire/index.js'
import { isHostName, isLogicalName, isUuid } from '../formats.js'

/** Path segments below /v1/nodes, in the order of upstream's refusal. */
const RESERVED_NAMES = ['maintenance', 'management', 'states', 'vendor_passthru', 'detail', 'validate']
const MAX_NODE_NAME_LENGTH = 255
const MAX_DESCRIPTION_LENGTH = 4096

/** @param updating ident of the node that gets the name; absent at creation */
export function checkNodeName(name: unknown, version: Microversion, updating?: string): void {
  if (typeof name !== 'string') return
  const valid =
    version >= SINCE.rfc3986Names ? isLogicalName(name) && name.length <= MAX_NODE_NAME_LENGTH : isHostName(name)
  if (!valid) throw ironicErrors.invalidNodeName(name, updating)
  if (RESERVED_NAMES.includes(name)) throw ironicErrors.reservedNodeName(name, RESERVED_NAMES)
}

/** Refuses fields newer than the client's microversion with 406, as for reading them. */
export function refuseNewerFields(names: readonly string[], version: Microversion): void {
  for (const name of names)
    if ((NODE_FIELDS.find((field) => field.name === name)?.since ?? 1) > version) throw ironicErrors.notAcceptable()
}

export function checkDescription(description: unknown, doing: 'create' | 'update'): void {
  if (typeof description === 'string' && description.length > MAX_DESCRIPTION_LENGTH)
    throw ironicErrors.descriptionTooLong(doing)
}

export function checkUuid(name: string, value: unknown): void {
  if (typeof value === 'string' && !isUuid(value)) throw ironicErrors.expected('UUID', name, value)
}
