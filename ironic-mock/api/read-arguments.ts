import { isNestedDeeper, isObject, KIB } from '../../base/runtime/index.js'
import {
  ironicErrors,
  IronicError,
  pythonRepr,
  formatClientValue,
  type CallArgSchema,
  type IronicOperation,
} from '../../base/wire/index.js'
import { largestOf, tooLarge, type BodyLimitSettings } from './body-limits.js'
import { isLogicalName, isMac, isUuid, parseBoolean } from './formats.js'

/** Arguments of a call by name; wire's `ArgsOf` types them per operation. */
export type Arguments = Record<string, unknown>

/**
 * Parses a request's body as JSON; undefined when there is none. The limit of its depth also keeps recursive readers
 * from running out of stack.
 *
 * @throws IronicError 400 for invalid JSON (upstream: 500) or too deep nesting, 413 for too large a body
 */
export function readBody(operation: IronicOperation, text: string | undefined, limits: BodyLimitSettings): unknown {
  if (text === undefined || text.trim() === '') return undefined
  const largest = largestOf(operation, limits)
  if (Buffer.byteLength(text) > largest * KIB) throw new IronicError(413, tooLarge(largest))
  // The operation ignores its body, so any text is accepted.
  if (!operation.body) return undefined
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw ironicErrors.bodyNotJson(error instanceof Error ? error.message : String(error))
  }
  const { maxBodyDepth: deepest } = limits
  if (isNestedDeeper(body, deepest))
    throw new IronicError(400, `The request body is nested more than ${deepest} levels deep.`)
  return body
}

/**
 * Reads a call's arguments from its path, its query and, where the operation's body is a set of arguments, its body.
 * Ironic treats them alike: unknown ones are refused together, then missing ones, then each is read by its type.
 *
 * @throws IronicError 400
 */
export function readArguments(
  operation: IronicOperation,
  path: Readonly<Record<string, string>>,
  query: URLSearchParams,
  body: unknown,
): Arguments {
  const { document: _, ...pathArguments } = path
  const received: Arguments = queryArguments(query)
  const schemas: Record<string, CallArgSchema> = { ...operation.query }
  if (operation.body && 'args' in operation.body) {
    Object.assign(received, bodyArguments(body))
    Object.assign(schemas, operation.body.args)
  }
  // Arguments of the path override those of query and body.
  Object.assign(received, pathArguments)

  const twice = OWN_NODE.test(operation.path) ? [...query.keys()].filter((name) => name === 'node_ident') : []
  const unknown = Object.keys(received).filter((name) => !Object.hasOwn(schemas, name) && !Object.hasOwn(path, name))
  const unexpected = [...new Set([...twice, ...unknown])]
  if (unexpected.length > 0) throw ironicErrors.unexpectedArguments(unexpected)
  if (path.node_ident !== undefined && NODE_IDENT.test(operation.path))
    readString('node_ident', path.node_ident, 'uuid-or-name')
  for (const name of operation.required ?? [])
    // An argument that the path may hold is never null, in the query or body either.
    if (!Object.hasOwn(received, name) || (received[name] === null && operation.path.includes(`{${name}}`)))
      throw ironicErrors.missingArgument(name)

  const args: Arguments = {}
  for (const [name, value] of Object.entries(received)) {
    const schema = schemas[name]
    const routed = schema?.type === 'string' && Object.hasOwn(path, name) && ROUTED.test(operation.path)
    args[name] = schema && !routed ? readArgument(name, value, schema) : value
  }
  return args
}

/** Paths whose node is an ordinary argument, and the first that is read. */
const NODE_IDENT = /^\/v1\/nodes\/\{node_ident\}\/(states|management|maintenance|vendor_passthru)\b/

/** Paths whose node the router removes, so that it is no argument. */
const OWN_NODE =
  /^\/v1\/nodes\/\{\w+\}\/(ports|portgroups|vifs|volume|traits|bios|allocation|history|inventory|children|firmware|vmedia)\b/

/** Paths whose ident the router checks before anything else. */
const ROUTED = /^\/v1\/nodes\b/

/** Reads a repeated argument as a list, which only a list argument accepts. */
function queryArguments(query: URLSearchParams): Arguments {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name)
      return [name, values.length > 1 ? values : values[0]]
    }),
  )
}

function bodyArguments(body: unknown): Arguments {
  // Upstream treats any body but an object as empty.
  return isObject(body) ? body : {}
}

function readArgument(name: string, value: unknown, schema: CallArgSchema): unknown {
  if (value === null) return null
  switch (schema.type) {
    case 'string':
      return readString(name, value, 'format' in schema ? schema.format : undefined)
    case 'integer': {
      const text = formatClientValue(value).trim()
      if (typeof value === 'boolean' || !/^[+-]?\d+$/.test(text)) throw argumentError('an integer', name, value)
      return Number(text)
    }
    case 'boolean': {
      const flag = parseBoolean(value)
      if (flag === undefined) throw ironicErrors.notBoolean(name, plain(value))
      return flag
    }
    case 'array': {
      const text = Array.isArray(value) ? value.map(formatClientValue).join(',') : value
      if (typeof text !== 'string') throw argumentError('a comma-delimited string', name, value)
      const items = text.split(',').map((item) => item.trim().toLowerCase())
      return [...new Set(items.filter((item) => item !== ''))]
    }
    default:
      return readOneOf(name, value, schema.type)
  }
}

function readString(
  name: string,
  value: unknown,
  format: 'uuid' | 'uuid-or-name' | 'name' | 'mac' | undefined,
): string {
  if (typeof value !== 'string') throw argumentError('string', name, value)
  switch (format) {
    case 'uuid':
      if (!isUuid(value)) throw argumentError('UUID', name, value)
      return value.toLowerCase()
    case 'uuid-or-name':
      if (!isUuid(value) && !isLogicalName(value)) throw argumentError('UUID or name', name, value)
      return value
    case 'name':
      if (!isLogicalName(value) && !isUuid(value)) throw argumentError('name', name, value)
      return value
    case 'mac':
      if (!isMac(value)) throw argumentError('valid MAC address', name, value)
      return value.toLowerCase()
    case undefined:
      return value
  }
}

const CLASSES: Readonly<Record<string, string>> = { null: 'NoneType', object: 'dict', string: 'str', array: 'list' }

function readOneOf(name: string, value: unknown, types: readonly string[]): unknown {
  const type = Array.isArray(value) ? 'array' : typeof value
  if (types.includes(type)) return value
  const classes = types.map((each) => `<class '${CLASSES[each] ?? each}'>`).join(', ')
  throw argumentError(`types ${classes}`, name, value)
}

const argumentError = (what: string, name: string, value: unknown) => ironicErrors.expected(what, name, plain(value))
const plain = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))
