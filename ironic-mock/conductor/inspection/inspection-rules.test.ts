import { describe, expect, test } from 'vitest'
import type { InspectionRuleRecord, JsonObject, NodeRecord } from '../../../base/wire/index.js'
import { UPSTREAM_INSPECTION, type InspectionConf } from './inspection-conf.js'
import { applyRules } from './inspection-rules.js'
import type { RuleSubject } from './rule-actions.js'

type RuleFields = Pick<InspectionRuleRecord, 'actions'> & Partial<InspectionRuleRecord>
const rule = (fields: RuleFields): InspectionRuleRecord =>
  ({
    uuid: 'r',
    description: null,
    priority: 0,
    phase: 'main',
    sensitive: false,
    scope: null,
    conditions: [],
    ...fields,
  }) as InspectionRuleRecord

const INVENTORY = {
  cpu: { count: 4, architecture: 'x86_64' },
  memory: { physical_mb: 4096 },
  bmc_address: '192.0.2.7',
  bmc_password: 'secret',
  system_vendor: { manufacturer: 'ACME' },
  disks: [],
}

function apply(rules: RuleFields[], conf: Partial<InspectionConf> = {}) {
  const node = { uuid: 'u', properties: {}, extra: {}, driver_info: {}, traits: [], description: null, owner: null }
  const subject: RuleSubject = {
    node: node as unknown as NodeRecord,
    ports: [
      {
        uuid: 'p',
        address: 'a',
        pxe_enabled: true,
        extra: {},
        local_link_connection: {},
        physical_network: null,
        stored: null,
        removed: false,
      },
    ],
    inventory: structuredClone(INVENTORY),
    pluginData: { root_disk: { size: 1 } },
    log: [],
    calls: [],
  }
  const problem = applyRules(rules.map(rule), { ...UPSTREAM_INSPECTION, ...conf }, subject)
  return { ...subject, problem }
}

const MARK = [{ op: 'set-attribute', args: { path: 'extra/met', value: 'yes' } }]
const met = (condition: JsonObject) => {
  const { node, problem } = apply([{ conditions: [condition as never], actions: MARK }])
  return problem ?? node.extra.met === 'yes'
}

describe('conditions', () => {
  test.each<[string, JsonObject, unknown]>([
    ['eq', { values: ['{inventory[cpu][architecture]}', 'x86_64'] }, true],
    ['eq', { values: ['{inventory[cpu][count]}', 4] }, false],
    ['eq', { values: ['{inventory[cpu][count]}', 4], force_strings: true }, true],
    ['!eq', { values: ['a', 'a'] }, false],
    ['! eq', { values: ['a', 'b'] }, true],
    ['lt', { values: [1, 2, 3] }, true],
    ['gt', { values: [3, 2, 2] }, false],
    ['is-empty', { value: '{inventory[disks]}' }, true],
    ['is-empty', { value: '{inventory[nosuch]}' }, true],
    ['!is-empty', { value: '{inventory[cpu]}' }, true],
    ['in-net', { address: '{inventory[bmc_address]}', subnet: '192.0.2.0/24' }, true],
    ['in-net', { address: '198.51.100.1', subnet: '192.0.2.0/24' }, false],
    ['matches', { value: '{inventory[system_vendor][manufacturer]}', regex: 'AC' }, false],
    ['matches', { value: '{inventory[system_vendor][manufacturer]}', regex: 'AC.*' }, true],
    ['contains', { value: '{inventory[system_vendor][manufacturer]}', regex: 'CM' }, true],
    ['one-of', { value: '{node.uuid}', values: ['t', 'u'] }, true],
    ['is-none', { value: null }, true],
    ['is-none', { value: '{node.owner}' }, false],
    ['is-true', { value: 'Yes' }, true],
    ['is-false', { value: 0 }, true],
  ])('%s %o', (op, args, expected) => expect(met({ op, args })).toBe(expected))

  test('arguments may be a list', () => {
    expect(met({ op: 'contains', args: ['{inventory[cpu]}', 'count'] })).toBe(true)
  })

  test.each<[string | undefined, boolean]>([
    [undefined, true],
    ['any', true],
    ['all', false],
    ['first', true],
    ['last', false],
  ])('a loop, %s', (multiple, expected) => {
    const condition = { op: 'eq', args: { values: ['{item}', '{inventory[cpu][count]}'] }, loop: [4, 5] }
    expect(met(multiple === undefined ? condition : { ...condition, multiple })).toBe(expected)
  })

  test('a condition that cannot be checked fails the inspection', () => {
    expect(met({ op: 'lt', args: { values: ['a', 1] } })).toBe(
      "Failed to apply rule r to node u: '<' not supported between instances of 'str' and 'int'",
    )
    expect(met({ op: 'eq', args: { values: 'ab' } })).toContain('Inspection rule condition check failed.')
    expect(met({ op: 'in-net', args: { address: 'x', subnet: 'y' } })).toContain('invalid value')
  })
})

describe('actions', () => {
  test.each<[string, JsonObject, Partial<Record<'node' | 'pluginData', JsonObject>>]>([
    [
      'set-attribute',
      { path: 'driver_info.ipmi_address', value: '{inventory[bmc_address]}' },
      { node: { driver_info: { ipmi_address: '192.0.2.7' } } },
    ],
    ['set-attribute', { path: '/extra/a/b', value: { c: 1 } }, { node: { extra: { a: { b: { c: 1 } } } } }],
    ['set-attribute', { path: 'description', value: 'a {node.uuid}' }, { node: { description: 'a u' } }],
    ['extend-attribute', { path: 'extra/list', value: 'x' }, { node: { extra: { list: ['x'] } } }],
    ['set-capability', { name: 'a', value: 'b' }, { node: { properties: { capabilities: 'a:b' } } }],
    ['unset-capability', { name: 'a' }, { node: { properties: { capabilities: '' } } }],
    ['add-trait', { name: 'CUSTOM_X' }, { node: { traits: ['CUSTOM_X'] } as never }],
    ['set-plugin-data', { path: 'a.b', value: 1 }, { pluginData: { a: { b: 1 } } }],
    ['extend-plugin-data', { path: 'a', value: 1 }, { pluginData: { a: [1] } }],
  ])('%s %o', (op, args, expected) => {
    const result = apply([{ actions: [{ op, args }] }])
    expect(result.problem).toBeUndefined()
    expect(result).toMatchObject(expected)
  })

  test('remove and empty attributes', () => {
    const { node, pluginData, ports } = apply([
      {
        actions: [
          { op: 'set-attribute', args: { path: 'extra/a', value: 1 } },
          { op: 'del-attribute', args: { path: 'extra/a' } },
          { op: 'add-trait', args: { name: 'CUSTOM_X' } },
          { op: 'remove-trait', args: { name: 'CUSTOM_X' } },
          { op: 'unset-plugin-data', args: { path: 'root_disk.size' } },
          { op: 'set-port-attribute', args: { port_id: 'p', path: 'extra/switch', value: 's' } },
          { op: 'set-port-attribute', args: { port_id: 'p', path: 'pxe_enabled', value: false } },
        ],
      },
    ])
    expect(node).toMatchObject({ extra: {}, traits: [] })
    // Objects that become empty are removed too.
    expect(pluginData).toEqual({})
    expect(ports[0]).toMatchObject({ extra: { switch: 's' }, pxe_enabled: false })
  })

  test('loop over items that are objects', () => {
    const { node } = apply([
      {
        actions: [
          {
            op: 'set-attribute',
            args: { path: '{item[path]}', value: '{item[value]}' },
            loop: [
              { path: 'extra/one', value: '1' },
              { path: 'extra/two', value: '2' },
            ],
          },
        ],
      },
    ])
    expect(node.extra).toEqual({ one: '1', two: '2' })
  })

  test.each<[string, JsonObject, string]>([
    ['fail', { msg: 'not this one' }, 'Failed to inspect hardware. Reason: not this one'],
    [
      'set-attribute',
      { path: 'nosuch', value: 1 },
      "Inspection rule action execution failed. Reason: Failed to set attribute nosuch with value 1: 'Node' object has no attribute 'nosuch'",
    ],
    [
      'del-attribute',
      { path: 'extra/nosuch' },
      "Inspection rule action execution failed. Reason: Failed to delete attribute at extra/nosuch: 'nosuch'",
    ],
    [
      'extend-attribute',
      { path: 'uuid', value: 1 },
      "Inspection rule action execution failed. Reason: Failed to extend attribute uuid: 'Node' object has no attribute 'uuid'",
    ],
    ['set-port-attribute', { port_id: 'q', path: 'extra', value: {} }, 'Port q could not be found.'],
  ])('%s %o fails the inspection', (op, args, problem) =>
    expect(apply([{ actions: [{ op, args }] }]).problem).toBe(problem),
  )

  test('log messages and send GETs', () => {
    const { log, calls } = apply([
      {
        actions: [
          { op: 'log', args: { msg: 'seen {inventory[cpu][count]}', level: 'warning' } },
          { op: 'api-call', args: { url: 'http://hook/{node.uuid}', timeout: 2 } },
        ],
      },
    ])
    expect(log).toEqual(['warning: seen 4'])
    expect(calls).toEqual([{ url: 'http://hook/u', headers: {}, timeout: 2000 }])
  })
})

describe('the choice and order of rules', () => {
  const append = (value: string) => [{ op: 'extend-attribute', args: { path: 'extra/order', value } }]

  test('rules of database and configuration run by priority, highest first', () => {
    const { node } = apply(
      [
        { priority: 1, actions: append('low') },
        { priority: 9, actions: append('high') },
      ],
      { builtInRules: [{ priority: 5, actions: append('built in') }] },
    )
    expect(node.extra.order).toEqual(['high', 'built in', 'low'])
  })

  test('only rules of the phase and the scope of the node run', () => {
    const { node } = apply([
      { phase: 'early', actions: append('a') },
      { scope: 'other', actions: append('b') },
    ])
    expect(node.extra).toEqual({})
  })

  test.each<['always' | 'never' | 'sensitive', boolean, string]>([
    ['always', true, '***'],
    ['never', false, 'secret'],
    ['sensitive', false, '***'],
    ['sensitive', true, 'secret'],
  ])('secrets are masked: %s, sensitive rule %s', (maskSecrets, sensitive, shown) => {
    const actions = [{ op: 'set-attribute', args: { path: 'extra/seen', value: '{inventory[bmc_password]}' } }]
    expect(apply([{ sensitive, actions }], { maskSecrets }).node.extra.seen).toBe(shown)
  })
})
