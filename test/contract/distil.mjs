/**
 * Makes the fixtures of the contract tests from recordings of a real Ironic:
 *
 *     node test/contract/distil.mjs RECORDING.jsonl > test/fixtures/recordings/NAME.json
 *
 * An exchange keeps its request and, of the answer, the status, the version and location headers, an error's sentence or
 * the body's shape: keys in their order with the JSON types of their values. Shapes are shared, since most repeat.
 */
import { readFileSync } from 'node:fs'

const LONGEST_TEXT = 60
const shapes = []
const known = new Map()

/** What is whose choice (drivers, agents, users) is only known to be an object. */
const FREE = new Set(['driver_internal_info', 'inventory', 'plugin_data', 'clean_step', 'deploy_step', 'service_step'])

function shape(value, key) {
  if (value === null) return 'null'
  if (Array.isArray(value) && value.length > 0 && value.every((each) => each?.href && each.rel))
    return `${value.length} links`
  if (Array.isArray(value)) return value.length === 0 ? [] : [shape(value[0])]
  if (typeof value !== 'object') return typeof value
  if (FREE.has(key)) return 'object'
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member, name)]))
}

function shared(value) {
  const tree = shape(value)
  const text = JSON.stringify(tree)
  if (!known.has(text)) {
    known.set(text, shapes.length)
    shapes.push(tree)
  }
  return known.get(text)
}

/** A name longer than a line is in one recording only to be too long; its length is what matters. */
const shortened = (value) =>
  JSON.parse(JSON.stringify(value), (_, member) =>
    typeof member === 'string' && /^(.)\1+$/.test(member) && member.length > LONGEST_TEXT
      ? { repeat: member[0], times: member.length }
      : member,
  )

const header = (headers, name) => Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]

const exchanges = []
for (const line of readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
  const { seq, step, direction, request, response } = JSON.parse(line)
  if (direction !== 'client->ironic') continue
  const out = { seq, step, method: request.method, path: request.path }
  const version = header(request.headers, 'x-openstack-ironic-api-version')
  const standard = header(request.headers, 'openstack-api-version')
  if (version !== undefined) out.version = version
  if (standard !== undefined) out.standardVersion = standard
  if (request.body !== null) out.body = shortened(request.body)
  out.status = response.status
  const answered = header(response.headers, 'x-openstack-ironic-api-version')
  if (answered !== undefined) out.answeredVersion = answered
  const allow = header(response.headers, 'allow')
  if (allow !== undefined) out.allow = allow
  if (header(response.headers, 'location') !== undefined)
    out.location = header(response.headers, 'location').replace(/^https?:\/\/[^/]+/, '')
  const { body } = response
  if (body && typeof body === 'object' && typeof body.error_message === 'string') {
    const inner = JSON.parse(body.error_message)
    out.error = 'faultstring' in inner ? { fault: inner.faultstring } : { routed: inner.description }
  } else if (body !== null) {
    out.shape = shared(body)
    for (const name of ['uuid', 'provision_state']) if (body[name] !== undefined) out[name] = body[name]
    if (body.next !== undefined) out.next = body.next.replace(/^https?:\/\/[^/]+/, '')
  }
  exchanges.push(JSON.stringify(out))
}
process.stdout.write(
  `{\n"shapes": [\n${shapes.map((each) => JSON.stringify(each)).join(',\n')}\n],\n"exchanges": [\n${exchanges.join(',\n')}\n]\n}\n`,
)
