import { expect, test } from 'vitest'
import { IRONIC_OPERATIONS, type IronicOperation, type OperationId } from '../../base/wire/index.js'
import { readArguments } from './read-arguments.js'

const read = (id: OperationId, query = '', body?: unknown) => {
  const operation: IronicOperation = IRONIC_OPERATIONS.find((row) => row.id === id)!
  return readArguments(operation, {}, new URLSearchParams(query), body)
}

const OF = 'node_ident=n'

test.each<[OperationId, string, unknown, unknown]>([
  [
    'nodes.list',
    'fields=UUID, name,,name&maintenance=off&limit=5',
    undefined,
    { fields: ['uuid', 'name'], maintenance: false, limit: 5 },
  ],
  ['ports.list', 'address=52:54:00:CC:00:01', undefined, { address: '52:54:00:cc:00:01' }],
  ['nodes.power', OF, { target: 'power on', timeout: 5 }, { node_ident: 'n', target: 'power on', timeout: 5 }],
  [
    'nodes.provision',
    OF,
    { target: null, configdrive: { user_data: 'x' } },
    { node_ident: 'n', target: null, configdrive: { user_data: 'x' } },
  ],
  ['nodes.maintenance.set', OF, undefined, { node_ident: 'n' }],
  [
    'nodes.validate',
    'node_uuid=b0000000-0000-4000-8000-000000000001',
    undefined,
    { node_uuid: 'b0000000-0000-4000-8000-000000000001' },
  ],
])('%s ?%s %j reads as', (id, query, body, args) => {
  expect(read(id, query, body)).toEqual(args)
})

test.each<[OperationId, string, unknown, string]>([
  ['nodes.list', 'bogus=1', undefined, 'Unexpected arguments: bogus'],
  ['nodes.list', 'chassis_uuid=x', undefined, 'Expected UUID for chassis_uuid: x'],
  ['nodes.list', 'limit=many', undefined, 'Expected an integer for limit: many'],
  [
    'nodes.list',
    'maintenance=maybe',
    undefined,
    "Invalid maintenance: Unrecognized value 'maybe', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'",
  ],
  ['ports.list', 'address=bad', undefined, 'Expected valid MAC address for address: bad'],
  ['lookup', 'node_uuid=bad', undefined, 'Expected UUID for node_uuid: bad'],
  ['nodes.delete', '', undefined, 'Missing mandatory parameter: node_ident'],
  ['nodes.provision', '', undefined, 'Missing mandatory parameter: node_ident'],
  ['nodes.provision', OF, undefined, 'Missing mandatory parameter: target'],
  ['nodes.provision', OF, { target: 'manage', nosuch: 1 }, 'Unexpected arguments: nosuch'],
  [
    'nodes.provision',
    OF,
    { target: 'active', configdrive: 1 },
    "Expected types <class 'NoneType'>, <class 'dict'>, <class 'str'> for configdrive: 1",
  ],
  ['nodes.provision', OF, { target: 1 }, 'Expected string for target: 1'],
  ['heartbeat', 'node_ident=x', {}, 'Missing mandatory parameter: callback_url'],
  ['nodes.indicators.set', OF, { indicator: null, state: 'ON' }, 'Missing mandatory parameter: indicator'],
  ['nodes.list', 'limit=1&limit=2', undefined, "Expected an integer for limit: ['1', '2']"],
  ['deployTemplates.list', 'marker=@@', undefined, 'Expected name for marker: @@'],
  ['volume.connectors.get', 'connector_uuid=x', undefined, 'Expected UUID for connector_uuid: x'],
])('%s ?%s %j is refused: %s', (id, query, body, sentence) => {
  expect(() => read(id, query, body)).toThrow(sentence)
})
