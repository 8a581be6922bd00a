import fc from 'fast-check'
import type { JsonSchema } from '../../../base/wire/index.js'

/** Texts that have broken programs before. */
export const NASTY = [
  '',
  ' ',
  '\t',
  '\u0000',
  '%',
  '%00',
  '..',
  '../..',
  '/',
  '\\',
  "'",
  '"',
  '`',
  '{}',
  '[]',
  'null',
  'undefined',
  'NaN',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '$where',
  '{{7*7}}',
  '${x}',
  '-1',
  '0',
  '1e309',
  '9007199254740993',
  '0x10',
  '٣',
  'İ',
  'ß',
  '\u202e',
  '\ufeff',
  '\ud800',
  '💥',
  'a'.repeat(300),
  'true',
  'None',
  'id',
  'uuid',
  'name',
  "'; DROP TABLE nodes; --",
  'a,b,c',
  ',',
  '*',
  '1.1',
  '1.999',
  'latest',
]

/** `$KIND` stands for a uuid or name that is there when the call is made; see {@link Pool}. */
export const PLACES = [
  '$node',
  '$nodeName',
  '$port',
  '$portName',
  '$portgroup',
  '$portgroupName',
  '$chassis',
  '$allocation',
  '$connector',
  '$target',
  '$template',
  '$runbook',
  '$rule',
]

const DEAD = '00000000-0000-4000-8000-00000000dead'
const number = fc.oneof(
  fc.integer({ min: -2, max: 12 }),
  fc.constantFrom(0, -0, 1.5, 1e21, Number.MAX_SAFE_INTEGER, -2147483649),
)
export const text = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.constantFrom(...PLACES, DEAD, '52:54:00:00:00:01', 'CUSTOM_A', 'HW_CPU_X86_VMX', 'fake', 'deploy'),
  fc.string({ maxLength: 6 }),
)
const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  number,
  text,
  fc.jsonValue({ maxDepth: 3 }),
  // Careless conversion to text calls a member that is no function.
  fc.constantFrom<unknown>({ toString: 1 }, { valueOf: {}, toString: null }, ['a', { toString: 'x', join: 0 }], {
    length: -1,
  }),
)

/** Usual values of a field, by its name, so that calls pass the first checks. */
const LIKELY: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  driver: fc.constantFrom('fake-hardware', 'fake-hardware', 'nosuch'),
  name: fc.constantFrom('a', 'b', 'CUSTOM_A', 'CUSTOM_B', 'bad name', '$nodeName'),
  node: fc.constantFrom('$node', '$nodeName', DEAD),
  node_uuid: fc.constantFrom('$node', '$node', DEAD),
  node_ident: fc.constantFrom('$node', '$nodeName'),
  chassis_uuid: fc.constantFrom('$chassis', DEAD),
  portgroup_uuid: fc.constantFrom('$portgroup', DEAD),
  instance_uuid: fc.constantFrom(DEAD, '$allocation', null),
  parent_node: fc.constantFrom('$node', null),
  address: fc.nat(20).map((n) => `52:54:00:00:01:${n.toString(16).padStart(2, '0')}`),
  resource_class: fc.constantFrom('baremetal', null),
  target: fc.constantFrom(
    ...[
      'manage',
      'provide',
      'active',
      'deleted',
      'clean',
      'inspect',
      'abort',
      'rebuild',
      'adopt',
      'rescue',
      'unrescue',
    ],
    ...['service', 'unhold', 'power on', 'power off', 'rebooting', 'soft power off', 'uefi', 'bios', 'true'],
  ),
  candidate_nodes: fc.array(fc.constantFrom('$node', '$nodeName', DEAD), { maxLength: 2 }),
  traits: fc.array(fc.constantFrom('CUSTOM_A', 'HW_CPU_X86_VMX', 'bad'), { maxLength: 2 }),
  provision_state: fc.constantFrom('enroll', 'available', 'active', 'nosuch'),
  sort_key: fc.constantFrom('id', 'uuid', 'name', 'created_at', 'extra', 'nosuch', 'provision_state', 'address'),
  sort_dir: fc.constantFrom('asc', 'desc', 'up'),
  limit: fc.constantFrom('1', '2', '1000', '0', '-1', 'x', '999999999999'),
  fields: fc.constantFrom('uuid', 'name', 'uuid,name', 'nosuch', '', ',', 'links', 'extra,uuid'),
  uuid: fc.uuid(),
  priority: fc.nat(100),
  order: fc.nat(9),
  args: fc.constantFrom({}, { path: '/extra/x', value: 1 }, { msg: 'x' }, { values: [1, 1] }, ['x', 'y']),
  op: fc.constantFrom('set-attribute', 'fail', 'log', 'eq', '!eq', 'is-none', 'add-trait', 'nosuch'),
  interface: fc.constantFrom('deploy', 'raid', 'bios'),
  step: fc.constantFrom('deploy', 'erase_devices', 'write_image', 'hold', 'nosuch'),
  steps: fc.array(
    fc.record({
      interface: fc.constantFrom('deploy', 'raid'),
      step: fc.constantFrom('a', 'b', 'c'),
      args: fc.constant({}),
      priority: fc.nat(9),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  deploy_interface: fc.constantFrom('fake', 'direct', 'custom-agent'),
  inspect_interface: fc.constantFrom('fake', 'agent', 'no-inspect'),
  maintenance: fc.boolean(),
  automated_clean: fc.constant(false),
  description: text,
  owner: fc.constantFrom('me', null),
  extra: fc.constantFrom({}, { a: 1 }, null),
  properties: fc.constantFrom({}, { capabilities: 'a:b' }, { cpu_arch: 'x86_64' }),
  callback_url: fc.constantFrom('http://10.0.0.1:9999', 'x'),
  agent_version: fc.constantFrom('10.0.0'),
  device: fc.constantFrom('pxe', 'disk'),
  boot_device: fc.constantFrom('pxe', 'disk', 'nosuch'),
  detail: fc.constantFrom('true', 'false', 'x', ''),
  marker: fc.constantFrom(...PLACES, DEAD, 'x'),
}

/** Values that a schema allows, mostly: formats and patterns that it does not spell out are likely ones. */
export function fitting(schema: JsonSchema, name = ''): fc.Arbitrary<unknown> {
  const likely = Object.hasOwn(LIKELY, name) ? LIKELY[name] : undefined
  return likely ? fc.oneof({ weight: 3, arbitrary: likely }, bySchema(schema)) : bySchema(schema)
}

function bySchema(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]).slice(0, 30))
  if (Array.isArray(schema.anyOf)) return fc.oneof(...(schema.anyOf as JsonSchema[]).map((each) => bySchema(each)))
  const types = [schema.type ?? 'any'].flat() as string[]
  return fc.oneof(...types.map((type) => ofType(type, schema)))
}

function ofType(type: string, schema: JsonSchema): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
    case 'number':
      return number
    case 'string':
      return text
    case 'array':
      return fc.array(schema.items ? fitting(schema.items as JsonSchema) : anything, { maxLength: 3 })
    case 'object':
      return document(schema)
    default:
      return anything
  }
}

function document(schema: JsonSchema): fc.Arbitrary<unknown> {
  const properties = schema.properties as Record<string, JsonSchema> | undefined
  if (!properties) return fc.dictionary(text, anything, { maxKeys: 3 })
  const required = (schema.required ?? []) as string[]
  const all = { ...Object.fromEntries(required.map((name) => [name, {}])), ...properties }
  return members(
    Object.fromEntries(Object.entries(all).map(([name, each]) => [name, fitting(each, name)])),
    schema.oneOf ? [...required, 'node_uuid'] : required,
  )
}

/** The required members and few others: with many of them one that is refused would hide the rest. */
export function members(
  all: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  required: readonly string[],
): fc.Arbitrary<unknown> {
  const optional = Object.keys(all).filter((name) => !required.includes(name))
  return fc
    .subarray(optional, { maxLength: Math.min(3, optional.length) })
    .chain((chosen) => fc.record(Object.fromEntries([...required, ...chosen].map((name) => [name, all[name]!]))))
}

const steps = fc.array(
  fc.record({
    op: fc.constantFrom('add', 'replace', 'remove', 'test', 'move'),
    path: fc.oneof(
      fc
        .tuple(
          fc.constantFrom(
            ...['extra', 'name', 'driver_info', 'properties', 'instance_uuid', 'chassis_uuid', 'node_uuid', 'steps'],
            ...['portgroup_uuid', 'address', 'mode', 'description', 'uuid', 'conditions', 'actions', 'owner', 'public'],
            ...['maintenance', 'resource_class', 'driver', 'boot_index', 'type', 'traits', '__proto__'],
          ),
          fc.constantFrom('', '', '', '/a', '/0', '/-', '/__proto__', '/constructor/prototype', '/a/b/c'),
        )
        .map(([root, rest]) => `/${root}${rest}`),
      text,
    ),
    value: anything,
  }),
  { maxLength: 3 },
)
/** A JSON patch, of nearly any path. */
export const patch: fc.Arbitrary<unknown> = steps.chain((made) =>
  fc.tuple(
    ...made.map(({ path, ...rest }) =>
      fitting({}, path.split('/')[1]).map((likely) => ({ ...rest, path, value: likely })),
    ),
  ),
)

/** The same, with one thing in it turned into something else, doubled, renamed or gone. */
export const mutated = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(values, fc.nat(), anything, text).map(([value, at, other, key]) => mutate(value, at, other, key))

function mutate(value: unknown, at: number, other: unknown, key: string): unknown {
  if (value === null || typeof value !== 'object') return other
  const entries = Object.entries(value)
  if (entries.length === 0) return Array.isArray(value) ? [other] : Object.fromEntries([[key, other]])
  const [name, member] = entries[at % entries.length]!
  const rest = Math.floor(at / entries.length)
  const changed = entries.flatMap(([each, known]): [string, unknown][] => {
    if (each !== name) return [[each, known]]
    switch (rest % 5) {
      case 0:
        return []
      case 1:
        return [[each, other]]
      case 2:
        return [[key, known]]
      case 3:
        return [
          [each, known],
          [key, other],
        ]
      default:
        return [[each, mutate(member, Math.floor(rest / 5), other, key)]]
    }
  })
  return Array.isArray(value) ? changed.map(([, member]) => member) : Object.fromEntries(changed)
}
