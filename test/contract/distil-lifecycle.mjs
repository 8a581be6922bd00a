/**
 * Makes the fixtures of the lifecycle contract tests from recordings in which an agent takes part:
 *
 *     node test/contract/distil-lifecycle.mjs RECORDING.jsonl [--no-shapes] > test/fixtures/recordings/NAME.json
 *
 * A client's request is kept to be sent again. Of all else the order, the statuses and the shapes stay: keys in their
 * order with JSON types, `key?` where only some of a list's items have it, `*` where the keys are names. A look at the
 * node becomes what matters of it. The node is `{node}`, a token `{token}`.
 */
import { readFileSync } from 'node:fs'

/** Rows that say the same are kept once. */
class Table {
  rows = []
  #known = new Map()

  index(row) {
    const text = JSON.stringify(row)
    if (!this.#known.has(text)) this.#known.set(text, this.rows.push(row) - 1)
    return this.#known.get(text)
  }
}
const shapes = new Table()
/** Keys of driver_internal_info. */
const internals = new Table()

/** What is whose choice (operators, users) is only known to be an object. */
const FREE = new Set([
  ...['driver_info', 'instance_info', 'properties', 'extra', 'network_data', 'raid_config', 'target_raid_config'],
  ...['clean_step', 'deploy_step', 'service_step', 'step', 'args', 'internal_info', 'local_link_connection'],
])
/** Objects whose keys are names of things. */
const NAMED = new Set([
  ...['hardware_manager_version', 'clean_version', 'deploy_version', 'service_version'],
  ...['all_interfaces', 'valid_interfaces', 'argsinfo'],
])

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

function shape(value, key, parent) {
  if (value === null) return 'null'
  if (Array.isArray(value) && value.length > 0 && value.every((each) => each?.href && each.rel))
    return `${value.length} links`
  if (Array.isArray(value)) return [value.map((item) => shape(item)).reduce(merged, 'nothing')]
  if (!isObject(value)) return typeof value
  if (FREE.has(key)) return 'object'
  if (key === 'driver_internal_info') return `internal ${internals.index(Object.keys(value))}`
  const steps = parent === 'command_result' && /^(clean|deploy|service)_steps$/.test(key)
  if (NAMED.has(key) || steps) {
    const items = Object.values(value).map((item) => shape(item))
    return { '*': items.reduce(merged, 'nothing') }
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member, name, key)]))
}

/** What both conform to. */
function merged(one, other) {
  if (JSON.stringify(one) === JSON.stringify(other) || other === 'nothing') return one
  if (one === 'nothing') return other
  if (Array.isArray(one) && Array.isArray(other)) return [merged(one[0], other[0])]
  if (isObject(one) && isObject(other)) {
    const out = {}
    const bare = (key) => key.replace(/\?$/, '')
    const find = (of, name) => Object.entries(of).find(([key]) => bare(key) === name)
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)].map(bare))) {
      const [a, b] = [find(one, name), find(other, name)]
      if (a && b) out[a[0].length > b[0].length ? a[0] : b[0]] = merged(a[1], b[1])
      else out[`${name}?`] = (a ?? b)[1]
    }
    return out
  }
  return [...new Set(`${asText(one)}|${asText(other)}`.split('|'))].sort().join('|')
}
const asText = (tree) => (typeof tree === 'string' ? tree : Array.isArray(tree) ? 'list' : 'object')

const withShapes = !process.argv.includes('--no-shapes')
const shared = (value) => (value === null || !withShapes ? undefined : shapes.index(shape(value)))

const lines = readFileSync(process.argv[2], 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line))
const node = lines.map(({ request }) => /\/v1\/nodes\/([0-9a-f-]{36})/.exec(request.path)?.[1]).find(Boolean)
const token = /^[\w-]{43}$/
const anonymous = (value) =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(node, '{node}')
      .replace(/agent_token=[\w-]{43}/g, 'agent_token={token}'),
  )

function look(body) {
  const { provision_state, target_provision_state, power_state, target_power_state, reservation, last_error } = body
  const step = [body.clean_step, body.deploy_step, body.service_step].find((each) => each?.step)?.step
  return {
    state: [provision_state, target_provision_state],
    power: [power_state, target_power_state],
    locked: reservation !== null,
    ...(last_error === null ? {} : { last_error }),
    ...(step === undefined ? {} : { step }),
    ...(body.maintenance ? { fault: body.fault } : {}),
    internal: internals.index(Object.keys(body.driver_internal_info)),
  }
}

const header = (headers, name) => Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]

const exchanges = []
lines.forEach(({ seq, step, direction, request, response }, index) => {
  const [from] = direction.split('->')
  const [, to] = direction.split('->')
  const out = { seq, step, from, to, method: request.method, path: request.path }
  const version = header(request.headers, 'x-openstack-ironic-api-version')
  if (version !== undefined) out.version = version
  const changes = from === 'client' && request.method !== 'GET'
  if (changes && request.body !== null) out.body = request.body
  if (from !== 'client') out.request = shared(request.body)
  if (from === 'ironic' && request.body?.name) out.command = request.body.name
  out.status = response.status
  const { body } = response
  if (typeof body?.error_message === 'string') out.error = JSON.parse(body.error_message).faultstring
  else {
    if (isObject(body) && 'provision_state' in body) out.node = look(body)
    // Of a series of looks the last says what the node looks like as a whole.
    const next = lines.slice(index + 1).find((line) => line.direction === 'client->ironic')
    const another = out.node && next?.request.method === 'GET' && next.request.path === request.path
    if (!another) out.answer = shared(body)
    if (Array.isArray(body?.history)) out.history = body.history.map(({ severity, event }) => `${severity} ${event}`)
    const given = body?.config?.agent_token
    if (given !== undefined) out.token = token.test(given) ? 'given' : 'masked'
  }
  exchanges.push(anonymous(out))
})
const table = (rows) => `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]`
process.stdout.write(
  `{\n"internals": ${table(internals.rows)},\n"shapes": ${table(shapes.rows)},\n"exchanges": ${table(exchanges)}\n}\n`,
)
