import { ironicErrors, pythonRepr, textOf, type ArgSchema, type Operation } from '../../wire/index.js'
import { isLogicalName, isMac, isUuid, parseBoolean } from './formats.js'

/** Arguments of a call by name; typed per operation by wire's `ArgsOf`. */
export type Arguments = Record<string, unknown>

/**
 * Reads a call's arguments from its path, its query and, where the operation's body is a set of arguments, its body.
 * Ironic treats them alike: unknown ones are refused together, then missing ones, then each is read by its type.
 *
 * @throws IronicError 400
 */
export function readArguments(
  operation: Operation,
  path: Readonly<Record<string, string>>,
  query: URLSearchParams,
  body: unknown,
): Arguments {
  const { document: _, ...named } = path
  const given: Arguments = queryArguments(query)
  const schemas: Record<string, ArgSchema> = { ...operation.query }
  if (operation.body && 'args' in operation.body) {
    Object.assign(given, bodyArguments(body))
    Object.assign(schemas, operation.body.args)
  }
  // What the path says stands, whatever else says of it.
  Object.assign(given, named)

  const twice = OWN_NODE.test(operation.path) ? [...query.keys()].filter((name) => name === 'node_ident') : []
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(schemas, name) && !Object.hasOwn(path, name))
  const unexpected = [...new Set([...twice, ...unknown])]
  if (unexpected.length > 0) throw ironicErrors.unexpectedArguments(unexpected)
  if (path.node_ident !== undefined && NODE_IDENT.test(operation.path))
    readString('node_ident', path.node_ident, 'uuid-or-name')
  for (const name of operation.required ?? [])
    // What a path could say is never null, wherever it is said.
    if (!Object.hasOwn(given, name) || (given[name] === null && operation.path.includes(`{${name}}`)))
      throw ironicErrors.missingArgument(name)

  const args: Arguments = {}
  for (const [name, value] of Object.entries(given)) {
    const schema = schemas[name]
    const routed = schema?.type === 'string' && Object.hasOwn(path, name) && ROUTED.test(operation.path)
    args[name] = schema && !routed ? read(name, value, schema) : value
  }
  return args
}

/** Where the node is an argument like any other, and the first that is read. */
const NODE_IDENT = /^\/v1\/nodes\/\{node_ident\}\/(states|management|maintenance|vendor_passthru)\b/

/** Where the router has taken the node off the path, so that it is no argument. */
const OWN_NODE =
  /^\/v1\/nodes\/\{\w+\}\/(ports|portgroups|vifs|volume|traits|bios|allocation|history|inventory|children|firmware|vmedia)\b/

/** Where the router itself looks at the ident in the path, before anything else does. */
const ROUTED = /^\/v1\/nodes\b/

/** What is given several times comes as a list, which only a list may. */
function queryArguments(query: URLSearchParams): Arguments {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name)
      return [name, values.length > 1 ? values : values[0]]
    }),
  )
}

function bodyArguments(body: unknown): Arguments {
  // Anything but an object is as good as nothing.
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Arguments) : {}
}

function read(name: string, value: unknown, schema: ArgSchema): unknown {
  if (value === null) return null
  switch (schema.type) {
    case 'string':
      return readString(name, value, 'format' in schema ? schema.format : undefined)
    case 'integer': {
      const text = textOf(value).trim()
      if (typeof value === 'boolean' || !/^[+-]?\d+$/.test(text)) throw refused('an integer', name, value)
      return Number(text)
    }
    case 'boolean': {
      const flag = parseBoolean(value)
      if (flag === undefined) throw ironicErrors.notBoolean(name, plain(value))
      return flag
    }
    case 'array': {
      const text = Array.isArray(value) ? value.map(textOf).join(',') : value
      if (typeof text !== 'string') throw refused('a comma-delimited string', name, value)
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
  if (typeof value !== 'string') throw refused('string', name, value)
  switch (format) {
    case 'uuid':
      if (!isUuid(value)) throw refused('UUID', name, value)
      return value.toLowerCase()
    case 'uuid-or-name':
      if (!isUuid(value) && !isLogicalName(value)) throw refused('UUID or name', name, value)
      return value
    case 'name':
      if (!isLogicalName(value) && !isUuid(value)) throw refused('name', name, value)
      return value
    case 'mac':
      if (!isMac(value)) throw refused('valid MAC address', name, value)
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
  throw refused(`types ${classes}`, name, value)
}

const refused = (what: string, name: string, value: unknown) => ironicErrors.expected(what, name, plain(value))
const plain = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))
