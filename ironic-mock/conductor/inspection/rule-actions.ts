import { ownMember } from '../../../base/runtime/index.js'
import {
  formatClientValue,
  type InspectionRuleAction,
  type JsonObject,
  type NodeRecord,
} from '../../../base/wire/index.js'
import { withCapabilities, type DraftPort } from './inspection-context.js'
import { argumentsOf } from './rule-operators.js'
import { pythonText, type RuleContext } from './rule-format.js'

/** A GET of a rule. */
export interface ApiCall {
  url: string
  headers: Record<string, string>
  /** Milliseconds. */
  timeout: number
}

/** Data that rules read and change. */
export interface RuleSubject {
  node: NodeRecord
  ports: (DraftPort & { uuid: string })[]
  inventory: JsonObject
  pluginData: JsonObject
  /** Messages of the action `log`. */
  log: string[]
  /** GETs of the action `api-call`, sent after all rules. */
  calls: ApiCall[]
}

/** Fails the inspection with its sentence. */
export class RuleFailure extends Error {
  override name = 'RuleFailure'
}
const ruleActionFailure = (reason: string): RuleFailure =>
  new RuleFailure(`Inspection rule action execution failed. Reason: ${reason}`)

interface RuleAction {
  readonly args: readonly string[]
  readonly formats: readonly string[]
  run(args: JsonObject, subject: RuleSubject): void
  /** Start of the sentence of a failure. */
  failure(args: JsonObject): string
}

const formatRuleValue = (value: unknown): string => pythonText(value)

/** Fields of a node that rules must not change. */
const OWN = [
  'id',
  'uuid',
  'provision_state',
  'target_provision_state',
  'reservation',
  'power_state',
  'target_power_state',
]

const parts = (path: unknown): string[] => {
  const written = formatClientValue(path)
  return written.includes('/') ? written.replace(/^\/+|\/+$/g, '').split('/') : written.split('.')
}

/** The object with the last part of a path; with `make`, missing objects on the path are created. */
function holder(root: JsonObject, path: readonly string[], make: boolean): JsonObject {
  let current = root
  for (const part of path.slice(0, -1)) {
    const next = current[part] ?? (make ? {} : undefined)
    if (typeof next !== 'object' || next === null || Array.isArray(next)) throw new Error(`'${part}'`)
    // Copies the object, since records are shared.
    current = current[part] = { ...(next as JsonObject) }
  }
  return current
}

function checkNode(node: NodeRecord, path: readonly string[]): void {
  if (!Object.hasOwn(node, path[0]!) || OWN.includes(path[0]!))
    throw new Error(`'Node' object has no attribute '${path[0]!}'`)
}

function extend(root: JsonObject, path: readonly string[], value: unknown, unique: unknown, shown: unknown): void {
  const into = holder(root, path, true)
  const last = path.at(-1)!
  const list = into[last] ?? []
  if (!Array.isArray(list))
    throw ruleActionFailure(
      `Cannot extend non-list attribute ${formatClientValue(shown)} with value ${formatRuleValue(value)}`,
    )
  if (unique !== true || !list.some((item) => formatRuleValue(item) === formatRuleValue(value)))
    into[last] = [...(list as unknown[]), value]
}

function removeValue(root: JsonObject, path: readonly string[]): void {
  const from = holder(root, path, false)
  const last = path.at(-1)!
  if (!Object.hasOwn(from, last)) throw new Error(`'${last}'`)
  delete from[last]
}

const port = ({ ports }: RuleSubject, id: unknown): JsonObject => {
  const found = ports.find(({ uuid }) => uuid === id)
  if (!found) throw new RuleFailure(`Port ${formatClientValue(id)} could not be found.`)
  return found as unknown as JsonObject
}

const capability = (node: NodeRecord, name: unknown, value: unknown): void => {
  const left = formatClientValue(node.properties.capabilities ?? '')
    .split(',')
    .filter((pair) => pair !== '' && !pair.startsWith(`${formatClientValue(name)}:`))
    .join(',')
  const capabilities = value === undefined ? left : withCapabilities(left, { [formatClientValue(name)]: value })
  node.properties = { ...node.properties, capabilities }
}

const dotted = (path: unknown): string[] =>
  Array.isArray(path) ? path.map(formatClientValue) : formatClientValue(path).split('.')

const ACTIONS: Readonly<Record<string, RuleAction>> = {
  fail: {
    args: ['msg'],
    formats: [],
    run: ({ msg }) => {
      throw new RuleFailure(`Failed to inspect hardware. Reason: ${formatClientValue(msg)}`)
    },
    failure: () => '',
  },
  log: {
    args: ['msg', 'level'],
    formats: ['msg'],
    run: ({ msg, level = 'info' }, { log }) => log.push(`${formatClientValue(level)}: ${formatClientValue(msg)}`),
    failure: () => 'Failed to log',
  },
  'set-attribute': {
    args: ['path', 'value'],
    formats: ['value'],
    run: ({ path, value }, { node }) => {
      checkNode(node, parts(path))
      holder(node as unknown as JsonObject, parts(path), true)[parts(path).at(-1)!] = value
    },
    failure: ({ path, value }) =>
      `Failed to set attribute ${formatClientValue(path)} with value ${formatRuleValue(value)}`,
  },
  'extend-attribute': {
    args: ['path', 'value', 'unique'],
    formats: ['value'],
    run: ({ path, value, unique }, { node }) => {
      checkNode(node, parts(path))
      extend(node as unknown as JsonObject, parts(path), value, unique, path)
    },
    failure: ({ path }) => `Failed to extend attribute ${formatClientValue(path)}`,
  },
  'del-attribute': {
    args: ['path'],
    formats: [],
    run: ({ path }, { node }) => {
      checkNode(node, parts(path))
      if (parts(path).length === 1) throw new Error(`can't delete attribute`)
      removeValue(node as unknown as JsonObject, parts(path))
    },
    failure: ({ path }) => `Failed to delete attribute at ${formatClientValue(path)}`,
  },
  'set-capability': {
    args: ['name', 'value'],
    formats: ['value'],
    run: ({ name, value }, { node }) => capability(node, name, value),
    failure: ({ name }) => `Failed to set capability ${formatClientValue(name)}`,
  },
  'unset-capability': {
    args: ['name'],
    formats: [],
    run: ({ name }, { node }) => capability(node, name, undefined),
    failure: ({ name }) => `Failed to unset capability ${formatClientValue(name)}`,
  },
  'add-trait': {
    args: ['name'],
    formats: [],
    run: ({ name }, { node }) => {
      node.traits = [...new Set([...node.traits, formatClientValue(name)])]
    },
    failure: ({ name }) => `Failed to add new trait ${formatClientValue(name)}`,
  },
  'remove-trait': {
    args: ['name'],
    formats: [],
    run: ({ name }, { node }) => {
      node.traits = node.traits.filter((trait) => trait !== name)
    },
    failure: ({ name }) => `Failed to remove trait ${formatClientValue(name)}`,
  },
  'set-plugin-data': {
    args: ['path', 'value'],
    formats: ['value'],
    run: ({ path, value }, { pluginData }) => {
      holder(pluginData, dotted(path), true)[dotted(path).at(-1)!] = value
    },
    failure: ({ path }) => `Failed to set plugin data at ${formatClientValue(path)}`,
  },
  'extend-plugin-data': {
    args: ['path', 'value', 'unique'],
    formats: ['value'],
    run: ({ path, value, unique }, { pluginData }) => extend(pluginData, dotted(path), value, unique, path),
    failure: ({ path }) => `Failed to extend plugin data at ${formatClientValue(path)}`,
  },
  'unset-plugin-data': {
    args: ['path'],
    formats: [],
    run: ({ path }, { pluginData, log }) => {
      try {
        const keys = dotted(path)
        removeValue(pluginData, keys)
        const parent = keys.slice(0, -1)
        if (parent.length > 0 && Object.keys(holder(pluginData, keys, false)).length === 0)
          removeValue(pluginData, parent)
      } catch {
        log.push(`warning: Path ${formatClientValue(path)} not found`)
      }
    },
    failure: ({ path }) => `Failed to unset plugin data at ${formatClientValue(path)}`,
  },
  'api-call': {
    args: ['url', 'headers', 'proxies', 'timeout', 'retries', 'backoff_factor'],
    formats: ['url'],
    run: ({ url, headers, timeout = 5 }, { calls }) => {
      if (!(Number(timeout) > 0)) throw ruleActionFailure('Invalid parameter: timeout must be greater than zero')
      calls.push({
        url: formatClientValue(url),
        headers: Object.fromEntries(
          Object.entries((headers ?? {}) as JsonObject).map(([k, v]) => [k, formatClientValue(v)]),
        ),
        timeout: Number(timeout) * 1000,
      })
    },
    failure: ({ url }) => `Request to ${formatClientValue(url)} failed`,
  },
  'set-port-attribute': {
    args: ['port_id', 'path', 'value'],
    formats: ['value'],
    run: ({ port_id, path, value }, subject) => {
      holder(port(subject, port_id), parts(path), true)[parts(path).at(-1)!] = value
    },
    failure: ({ port_id, path }) =>
      `Failed to set attribute ${formatClientValue(path)} for port ${formatClientValue(port_id)}`,
  },
  'extend-port-attribute': {
    args: ['port_id', 'path', 'value', 'unique'],
    formats: ['value'],
    run: ({ port_id, path, value, unique }, subject) =>
      extend(port(subject, port_id), parts(path), value, unique, path),
    failure: ({ port_id, path }) =>
      `Failed to extend attribute ${formatClientValue(path)} for port ${formatClientValue(port_id)}`,
  },
  'del-port-attribute': {
    args: ['port_id', 'path'],
    formats: [],
    run: ({ port_id, path }, subject) => removeValue(port(subject, port_id), parts(path)),
    failure: ({ port_id, path }) =>
      `Failed to delete attribute ${formatClientValue(path)} for port ${formatClientValue(port_id)}`,
  },
}

/**
 * Runs an action of a rule.
 *
 * @throws RuleFailure with the sentence that fails the inspection
 */
export function runRuleAction(action: InspectionRuleAction, subject: RuleSubject, context: () => RuleContext): void {
  const { op, args, loop } = action
  const known = ownMember(ACTIONS, op)
  if (!known) throw new Error(`Unsupported action: '${op}'. Supported actions are: ${Object.keys(ACTIONS).join(', ')}.`)
  const items: unknown[] =
    loop === undefined || (Array.isArray(loop) && loop.length === 0) ? [undefined] : [loop].flat()
  for (const item of items) {
    const itemContext = item === undefined ? context() : { ...context(), item }
    const values = argumentsOf(args, known.args, known.formats, itemContext, op)
    try {
      known.run(values, subject)
    } catch (error) {
      if (error instanceof RuleFailure) throw error
      throw ruleActionFailure(`${known.failure(values)}: ${(error as Error).message}`)
    }
  }
}
