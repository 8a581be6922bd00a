import { expect, test } from 'vitest'
import {
  deployStepsSchema,
  inspectionDataSchema,
  localLinkConnectionSchema,
  nodeSchema,
  orderedStepsSchema,
  patchSchema,
  portSchema,
  type JsonSchema,
} from '../../base/wire/index.js'
import { schemaProblem } from './api-schema.js'

const mac = { address: '52:54:00:cc:00:03' }

// The sentences are recorded, but for the last four.
test.each<[JsonSchema, unknown, string]>([
  [nodeSchema, {}, "'driver' is a required property"],
  [
    nodeSchema,
    { driver: 'x', nosuch_field: 1 },
    "Additional properties are not allowed ('nosuch_field' was unexpected)",
  ],
  [nodeSchema, { driver: 'x', properties: 'text' }, "'text' is not of type 'object', 'null'"],
  [nodeSchema, [1, 2], "[1, 2] is not of type 'object'"],
  [nodeSchema, 'text', "'text' is not of type 'object'"],
  [
    nodeSchema,
    { driver: 'x', network_data: { nosuch: 1 } },
    "{'nosuch': 1} is not valid under any of the given schemas. Possible root cause: {'nosuch': 1} is not of type 'null'",
  ],
  [portSchema, { node_uuid: 'x' }, "'address' is a required property"],
  [
    portSchema,
    mac,
    "{'address': '52:54:00:cc:00:03'} is not valid under any of the given schemas. Possible root cause: 'node_ident' is a required property",
  ],
  [
    localLinkConnectionSchema,
    { x: 1 },
    "{'x': 1} is not valid under any of the given schemas. Possible root cause: Additional properties are not allowed ('x' was unexpected)",
  ],
  [patchSchema, [{ op: 'test', path: '/name' }], "'test' is not one of ['add', 'replace', 'remove']"],
  [patchSchema, [{ path: '/extra' }], "'op' is a required property"],
  [patchSchema, [{ op: 'add', value: 1 }], "'path' is a required property"],
  [patchSchema, [{ op: 'add', path: 'extra' }], String.raw`'extra' does not match '^(/[\\w-]+)+$'`],
  [patchSchema, [{ op: 'add', path: '' }], String.raw`'' does not match '^(/[\\w-]+)+$'`],
  [patchSchema, { op: 'add' }, "{'op': 'add'} is not of type 'array'"],
  [inspectionDataSchema, { inventory: { interfaces: [] } }, '[] should be non-empty'],
  [inspectionDataSchema, { inventory: { interfaces: [{ name: 'x' }] } }, "'mac_address' is a required property"],
  [
    orderedStepsSchema,
    [{ interface: 'x', step: 'x' }],
    "'x' is not one of ['vendor', 'power', 'management', 'firmware', 'deploy', 'bios', 'raid']",
  ],
  [orderedStepsSchema, [{ step: 'x' }], "'interface' is a required property"],
  [deployStepsSchema, [{ interface: 'deploy', step: 'x', priority: 1 }], "'args' is a required property"],
  [nodeSchema, { driver: 'x', a: 1, b: 2 }, "Additional properties are not allowed ('a', 'b' were unexpected)"],
  [nodeSchema, { driver: 'x', resource_class: 'r'.repeat(81) }, `'${'r'.repeat(81)}' is too long`],
])('%# says what python-jsonschema says', (schema, value, sentence) => {
  expect(schemaProblem(schema, value)?.message).toBe(sentence)
})

test.each<[JsonSchema, unknown]>([
  [nodeSchema, { driver: 'redfish', extra: null, network_data: {}, automated_clean: 'yes', retired: false }],
  [portSchema, { ...mac, node_uuid: 'x', local_link_connection: {}, extra: {} }],
  [localLinkConnectionSchema, {}],
  [localLinkConnectionSchema, { switch_id: '0a:1b:2c:3d:4e:5f', port_id: 'Eth1', switch_info: 's' }],
  [deployStepsSchema, [{ interface: 'deploy', step: 'install_coreos', args: {}, priority: 80 }]],
  [deployStepsSchema, [{ interface: 'deploy', step: 'install_coreos', args: {}, priority: '80' }]],
  [patchSchema, []],
])('%# is fine', (schema, value) => {
  expect(schemaProblem(schema, value)).toBeUndefined()
})
